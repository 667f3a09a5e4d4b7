/** Reads what every builder requires from the node: a fresh blockhash and the rent of a new account. */

import { isAddress } from '../../solana/addresses.ts'
import { RENT_SYSVAR, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { type RentRate, rentRateIn } from '../../solana/rent.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { accountsAt } from '../sending/runs.ts'

/** A blockhash, and the block height after which no transaction with it can land. */
export interface Blockhash {
  blockhash: string
  lastValidBlockHeight: number
}

/** Returns a blockhash that is fresh and known to the whole cluster. Throws internal_error when the node fails. */
export async function readLatestBlockhash(node: NodeCalls): Promise<Blockhash> {
  return askNode('Reading a blockhash', async () => {
    const answer = await node.call<unknown>('getLatestBlockhash', [{ commitment: 'confirmed' }])
    return atSlot<Blockhash>(answer, isBlockhash).value
  })
}

function isBlockhash(value: unknown): boolean {
  const { blockhash, lastValidBlockHeight } = (value ?? {}) as Partial<Record<keyof Blockhash, unknown>>
  return typeof blockhash === 'string' && isAddress(blockhash) && isHeight(lastValidBlockHeight)
}

const isHeight = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** Returns the lamports that make an account of `bytes` rent-exempt. Throws internal_error when the node fails. */
export async function rentFor(node: NodeCalls, bytes: number): Promise<bigint> {
  return askNode('Reading the rent', async () => {
    const options = { commitment: 'confirmed' }
    const lamports = await node.call<unknown>('getMinimumBalanceForRentExemption', [bytes, options])
    if (!Number.isSafeInteger(lamports) || (lamports as number) <= 0) throw new Error('its answer is incomplete')
    return BigInt(lamports as number)
  })
}

/** Returns the rent minimum by the length of an account's data, at the cluster's present rate. Throws internal_error. */
export async function readRentRate(node: NodeCalls): Promise<RentRate> {
  const [sysvar = null] = await accountsAt(node, [RENT_SYSVAR])
  return askNode('Reading the rent', async () => {
    const rate = sysvar && rentRateIn(sysvar.data)
    if (rate === null) throw new Error('its Rent sysvar is not readable')
    return rate
  })
}

/**
 * Returns lamports in the order of the addresses, 0 without an account. `isWallet` means that only a key can take from
 * the account and that it has only lamports. Throws internal_error when the node fails.
 */
export async function readWallets(
  node: NodeCalls,
  addresses: readonly string[],
): Promise<{ lamports: bigint; isWallet: boolean }[]> {
  const accounts = await accountsAt(node, addresses)
  return accounts.map((account) => ({
    lamports: account?.lamports ?? 0n,
    isWallet: account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0),
  }))
}
