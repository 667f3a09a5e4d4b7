/** Simulates a transaction without submitting it, and reports its effects, cost and balance changes. */

import type { Simulation } from '../../api/index.ts'
import { internal } from '../../platform/errors.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { RENT_SYSVAR } from '../../solana/program-ids.ts'
import { rentRateIn } from '../../solana/rent.ts'
import { readMint } from '../../solana/token-accounts.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { readLatestBlockhash } from '../reads/rpc-reads.ts'
import { type BalanceChange, balanceChanges } from './balance-changes.ts'
import { controlChanges } from './control-states.ts'
import { accountsAt, runWithAccounts } from './runs.ts'

/**
 * Signatures are not required and a recent blockhash replaces the transaction's, so that an unsigned build runs at any
 * time. A failed run is an answer with `err`. Throws bad_request when the node refuses to run it.
 */
export async function simulateDecoded(node: NodeCalls, transaction: DecodedTransaction): Promise<Simulation> {
  const [fee, { before, addresses, slot, run }] = await Promise.all([
    readFee(node, transaction),
    runWithAccounts(node, transaction, { replaceRecentBlockhash: true }),
  ])
  const { err, logs, unitsConsumed, returnData, accounts } = run
  if (err === null && accounts?.length !== addresses.length) {
    throw internal('The RPC node ran the transaction but does not show what it changes')
  }
  const after = addresses.map((_, i) => accounts?.[i] ?? null)
  const changes = err === null ? balanceChanges(addresses, before, after) : []
  const { keys, signers } = transaction.message
  return {
    err,
    logs: logs ?? [],
    units_consumed: unitsConsumed ?? null,
    return_data: returnData ? { program_id: returnData.programId, data: returnData.data[0] } : null,
    slot: slot,
    fee,
    ...(await withRentAndDecimals(node, changes)),
    control_changes: err === null ? controlChanges(addresses, before, after, keys.slice(0, signers)) : [],
  }
}

/**
 * Returns the fee in lamports that the node reports for the message with a fresh blockhash, or null if it is not
 * exact. A version 1 message states its priority fee, so no node can hide it or needs to know it (SIMD-0385).
 */
async function readFee(node: NodeCalls, transaction: DecodedTransaction): Promise<string | null> {
  const { message } = transaction
  const shown = await shownFee(node, transaction).catch(() => null)
  if (message.config === null) return shown === null ? null : String(shown)
  const stated = feeOfMessage(message)
  return String(shown !== null && shown > stated ? shown : stated)
}

async function shownFee(node: NodeCalls, { message, messageBytes }: DecodedTransaction): Promise<bigint | null> {
  const fresh = Uint8Array.from(messageBytes)
  fresh.set(addressBytes((await readLatestBlockhash(node)).blockhash), message.blockhashOffset)
  const { value } = await node.call<{ value: unknown }>('getFeeForMessage', [
    Buffer.from(fresh).toString('base64'),
    { commitment: 'confirmed' },
  ])
  return Number.isSafeInteger(value) ? BigInt(value as number) : null
}

/** Adds the rent of new accounts, and the decimals of mints that the transaction does not write to. */
export async function withRentAndDecimals(
  node: NodeCalls,
  changes: BalanceChange[],
): Promise<Pick<Simulation, 'rent' | 'balance_changes'>> {
  const opened = changes.filter(({ created, mint, space }) => created && mint === null && space > 0)
  const mints = [...new Set(changes.flatMap(({ mint, decimals }) => (decimals === null ? (mint ?? []) : [])))]
  const wanted = opened.length === 0 ? mints : [RENT_SYSVAR, ...mints]
  if (wanted.length === 0) return { rent: '0', balance_changes: changes }
  const accounts = new Map((await accountsAt(node, wanted)).map((account, i) => [wanted[i], account]))
  const sysvar = accounts.get(RENT_SYSVAR)
  const rate = sysvar ? rentRateIn(sysvar.data) : null
  // An account may hold more than its rent, such as one of wrapped SOL.
  const rentOf = ({ after, space }: BalanceChange) => smallerOf(BigInt(after), rate?.(space) ?? 0n)
  const rent = opened.reduce((sum, change) => sum + rentOf(change), 0n)
  const decimalsOf = (mint: string) => {
    const account = accounts.get(mint)
    return account ? (readMint(account)?.decimals ?? null) : null
  }
  return {
    rent: opened.length > 0 && rate === null ? null : String(rent),
    balance_changes: changes.map((change) =>
      change.mint === null || change.decimals !== null ? change : { ...change, decimals: decimalsOf(change.mint) },
    ),
  }
}

const smallerOf = (a: bigint, b: bigint) => (a < b ? a : b)
