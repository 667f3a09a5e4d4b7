/** The most frequent reads of a node: accounts, and simulations of transactions. Every field of an answer is checked. */
import type { TransactionError } from '@solana/web3.js'
import type { ChainAccount } from '../../solana/accounts.ts'
import { isAddress } from '../../solana/addresses.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'

export type MaybeAccount = ChainAccount | null

/** An account that a node has shown. */
export interface NodeAccount extends ChainAccount {
  data: Buffer
}

type Fields = Record<string, unknown>

/** Returns one fee for each recent slot. Throws what `call` throws, or an Error for an incomplete answer. */
export async function readRecentFees(node: NodeCalls, addresses: readonly string[]): Promise<number[]> {
  const params = addresses.length === 0 ? [] : [addresses]
  const rows = await node.call<unknown>('getRecentPrioritizationFees', params)
  if (!Array.isArray(rows)) throw partsMissing()
  return rows.map((row) => {
    const { prioritizationFee } = fieldsOf(row)
    if (!Number.isInteger(prioritizationFee) || (prioritizationFee as number) < 0) throw partsMissing()
    return prioritizationFee as number
  })
}

export interface NodeSimulation {
  err: TransactionError | null
  logs: string[] | null
  unitsConsumed?: number
  returnData?: { programId: string; data: [string, 'base64'] } | null
  /** Accounts after the run, in the order of the request; null if the node shows none. */
  accounts: (NodeAccount | null)[] | null
  /** As the node shows them, unchecked. */
  innerInstructions?: unknown
  /** Total bytes of the accounts by SIMD-0186. Older nodes do not report it. */
  loadedAccountsDataSize?: number | null
}

interface NodeSimulationOptions {
  /** Whether a recent blockhash replaces the transaction's. The default is true. */
  replaceRecentBlockhash?: boolean
  innerInstructions?: boolean
  /** Accounts to show after the run. */
  addresses?: readonly string[]
}

/** Runs a transaction without its signatures. Throws like `readRecentFees`. */
export async function simulateOnNode(
  node: NodeCalls,
  transaction: Uint8Array,
  { replaceRecentBlockhash = true, innerInstructions = false, addresses }: NodeSimulationOptions = {},
): Promise<{ slot: number; run: NodeSimulation }> {
  const answer = await node.call<unknown>('simulateTransaction', [
    Buffer.from(transaction).toString('base64'),
    {
      encoding: 'base64',
      commitment: 'confirmed',
      sigVerify: false,
      replaceRecentBlockhash,
      ...(innerInstructions && { innerInstructions }),
      ...(addresses && { accounts: { encoding: 'base64', addresses } }),
    },
  ])
  const { slot, value } = atSlot<Fields>(answer, isNodeSimulation)
  const { accounts } = value
  const shown = Array.isArray(accounts) ? accounts.map(maybeAccount) : null
  return { slot, run: { ...(value as unknown as NodeSimulation), accounts: shown } }
}

function isNodeSimulation(value: unknown): boolean {
  const { err, logs, unitsConsumed, accounts, returnData } = fieldsOf(value)
  return (
    (err === null || typeof err === 'string' || isRecord(err)) &&
    (logs === null || (Array.isArray(logs) && logs.every((line) => typeof line === 'string'))) &&
    (unitsConsumed === undefined || typeof unitsConsumed === 'number') &&
    (accounts === undefined || accounts === null || Array.isArray(accounts)) &&
    (returnData === undefined || returnData === null || isReturnData(returnData))
  )
}

function isReturnData(value: unknown): boolean {
  const { programId, data } = fieldsOf(value)
  return typeof programId === 'string' && isBase64(data)
}

export interface AccountsAtSlot {
  slot: number
  accounts: (NodeAccount | null)[]
}

/** Reads at most 100 accounts, all at one slot, which is at least `minSlot`. Throws like `readRecentFees`. */
export async function accountsAtSlot(
  node: NodeCalls,
  addresses: readonly string[],
  minSlot?: number,
): Promise<AccountsAtSlot> {
  const least = minSlot === undefined ? {} : { minContextSlot: minSlot }
  const options = { encoding: 'base64', commitment: 'confirmed', ...least }
  const answer = await node.call<unknown>('getMultipleAccounts', [addresses, options])
  // An account that is missing from the answer must not count as nonexistent.
  const { slot, value } = atSlot<unknown[]>(
    answer,
    (shown) => Array.isArray(shown) && shown.length === addresses.length,
  )
  return { slot, accounts: value.map(maybeAccount) }
}

const maybeAccount = (value: unknown): NodeAccount | null => (value === null ? null : accountIn(value))

function accountIn(value: unknown): NodeAccount {
  const { executable, owner, lamports, exactLamports = lamports, data } = fieldsOf(value)
  if (typeof executable !== 'boolean' || typeof owner !== 'string' || !isAddress(owner)) throw partsMissing()
  if (!Number.isInteger(lamports) || (lamports as number) < 0 || !isBase64(data)) throw partsMissing()
  return { lamports: BigInt(exactLamports as string | number), owner, data: Buffer.from(data[0], 'base64'), executable }
}

/** Returns an owner's accounts of one token program, with their addresses. Throws like `readRecentFees`. */
export async function readTokenAccounts(
  node: NodeCalls,
  owner: string,
  programId: string,
): Promise<{ address: string; account: NodeAccount }[]> {
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const answer = await node.call<unknown>('getTokenAccountsByOwner', [owner, { programId }, options])
  return atSlot<unknown[]>(answer, Array.isArray).value.map((row) => {
    const { pubkey, account } = fieldsOf(row)
    if (typeof pubkey !== 'string' || !isAddress(pubkey)) throw partsMissing()
    return { address: pubkey, account: accountIn(account) }
  })
}

const partsMissing = () => new Error('its answer is incomplete')
const isBase64 = (data: unknown): data is [string, 'base64'] =>
  Array.isArray(data) && data.length === 2 && typeof data[0] === 'string' && data[1] === 'base64'
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
