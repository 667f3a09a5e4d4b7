/** Reads what every build asks of a node, without web3.js's check of the answer by schema, which costs more than the read. */
import type { AccountInfo, Connection, SimulatedTransactionResponse } from '@solana/web3.js'
import type { ChainAccount } from '../../solana/accounts.ts'
import { isAddress } from '../../solana/addresses.ts'
import { givenTransaction } from '../sending/given-bytes.ts'
import { exactLamports } from './exact-lamports.ts'

export type MaybeAccount = ChainAccount | null

/** An account that a node has shown. */
export interface NodeAccount extends ChainAccount {
  data: Buffer
}

interface RpcRequest {
  method: string
  params: readonly unknown[]
}

/** The part of web3.js's Connection that its own reads are made of. */
interface Requests {
  _rpcRequest?: (method: string, params: readonly unknown[]) => Promise<unknown>
}

type Fields = Record<string, unknown>

/** A blockhash, and the block height after which no transaction with it can land. */
export interface Blockhash {
  blockhash: string
  lastValidBlockHeight: number
}

/** Throws what web3.js throws for a node that fails, or for an answer without its parts. */
export async function plainBlockhash(connection: Connection): Promise<Blockhash> {
  return ask(
    connection,
    { method: 'getLatestBlockhash', params: [{ commitment: 'confirmed' }] },
    (result) => {
      const { blockhash, lastValidBlockHeight } = fieldsOf(valueAtSlot(result)?.value)
      if (typeof blockhash !== 'string' || typeof lastValidBlockHeight !== 'number') return undefined
      return { blockhash, lastValidBlockHeight }
    },
    (checked) => checked.getLatestBlockhash('confirmed'),
  )
}

/** Returns one fee for each recent slot. Throws like `plainBlockhash`. */
export async function plainRecentFees(connection: Connection, addresses: readonly string[]): Promise<number[]> {
  return ask(
    connection,
    { method: 'getRecentPrioritizationFees', params: addresses.length === 0 ? [] : [addresses] },
    (result) => (Array.isArray(result) ? everyOf(result, recentFee) : undefined),
    async (checked) => {
      const { PublicKey } = await import('@solana/web3.js')
      const lockedWritableAccounts = addresses.map((address) => new PublicKey(address))
      const fees = await checked.getRecentPrioritizationFees({ lockedWritableAccounts })
      return fees.map(({ prioritizationFee }) => prioritizationFee)
    },
  )
}

function recentFee(row: unknown): number | undefined {
  const { slot, prioritizationFee } = fieldsOf(row)
  return typeof slot === 'number' && typeof prioritizationFee === 'number' ? prioritizationFee : undefined
}

export interface TrialRun extends Pick<SimulatedTransactionResponse, 'err' | 'logs' | 'unitsConsumed'> {
  /** Bytes that the accounts count by SIMD-0186. Older nodes do not tell. */
  loadedAccountsDataSize?: number | null
}

/** Runs a transaction without its signatures, with a recent blockhash in place of its own. Throws like `plainBlockhash`. */
export async function plainTrial(connection: Connection, transaction: Uint8Array): Promise<TrialRun> {
  const options = { sigVerify: false, replaceRecentBlockhash: true }
  const wire = Buffer.from(transaction).toString('base64')
  const { commitment } = connection
  return ask(
    connection,
    { method: 'simulateTransaction', params: [wire, { ...options, encoding: 'base64', commitment }] },
    (result) => trialRun(valueAtSlot(result)?.value),
    async (checked) => (await checked.simulateTransaction(givenTransaction(transaction), options)).value,
  )
}

function trialRun(value: unknown): TrialRun | undefined {
  const { err, logs, unitsConsumed, accounts, returnData, innerInstructions } = fieldsOf(value)
  const isUsual =
    (err === null || typeof err === 'string' || isRecord(err)) &&
    (logs === null || (Array.isArray(logs) && logs.every((line) => typeof line === 'string'))) &&
    (unitsConsumed === undefined || typeof unitsConsumed === 'number') &&
    (accounts ?? null) === null &&
    (innerInstructions ?? null) === null &&
    (returnData === undefined || returnData === null || isReturnData(returnData))
  return isUsual ? (value as TrialRun) : undefined
}

function isReturnData(value: unknown): boolean {
  const { programId, data } = fieldsOf(value)
  if (typeof programId !== 'string' || !Array.isArray(data)) return false
  return data.length === 2 && typeof data[0] === 'string' && data[1] === 'base64'
}

export interface AccountsAtSlot {
  slot: number
  accounts: (NodeAccount | null)[]
}

/**
 * Reads accounts at the connection's commitment, as many as the answer has, all at one slot, which is at least `minSlot`.
 * Throws like `plainBlockhash`.
 */
export async function plainAccounts(
  connection: Connection,
  addresses: readonly string[],
  minSlot?: number,
): Promise<AccountsAtSlot> {
  const least = minSlot === undefined ? {} : { minContextSlot: minSlot }
  const { commitment } = connection
  return ask(
    connection,
    { method: 'getMultipleAccounts', params: [addresses, { encoding: 'base64', commitment, ...least }] },
    (result) => {
      const { slot, value } = valueAtSlot(result) ?? {}
      const accounts = Array.isArray(value) ? everyOf(value, maybePlainAccount) : undefined
      return slot === undefined || accounts === undefined ? undefined : { slot, accounts }
    },
    async (checked) => {
      const { PublicKey } = await import('@solana/web3.js')
      const keys = addresses.map((address) => new PublicKey(address))
      const { context, value } = await checked.getMultipleAccountsInfoAndContext(keys, least)
      return {
        slot: context.slot,
        accounts: value.map((read) => read && accountOf(read)),
      }
    },
  )
}

/** Converts an account that web3.js has checked. */
function accountOf(read: AccountInfo<Buffer>): NodeAccount {
  const { data, executable } = read
  return { lamports: BigInt(exactLamports(read)), owner: read.owner.toBase58(), data, executable }
}

const maybePlainAccount = (value: unknown): NodeAccount | null | undefined =>
  value === null ? null : plainAccount(value)

function plainAccount(value: unknown): NodeAccount | undefined {
  const { executable, owner, lamports, exactLamports: digits, data, rentEpoch } = fieldsOf(value)
  if (typeof executable !== 'boolean' || typeof owner !== 'string' || !isAddress(owner)) return undefined
  if (!Number.isInteger(lamports) || typeof rentEpoch !== 'number') return undefined
  if (digits !== undefined && typeof digits !== 'string') return undefined
  if (!Array.isArray(data) || data.length !== 2 || typeof data[0] !== 'string' || data[1] !== 'base64') return undefined
  return { lamports: BigInt(digits ?? (lamports as number)), owner, data: Buffer.from(data[0], 'base64'), executable }
}

/** Returns an owner's accounts of one token program, with their addresses. Throws like `plainBlockhash`. */
export async function plainTokenAccounts(
  connection: Connection,
  owner: string,
  programId: string,
): Promise<{ address: string; account: NodeAccount }[]> {
  const { commitment } = connection
  return ask(
    connection,
    { method: 'getTokenAccountsByOwner', params: [owner, { programId }, { encoding: 'base64', commitment }] },
    (result) => {
      const { value } = valueAtSlot(result) ?? {}
      return Array.isArray(value) ? everyOf(value, tokenAccount) : undefined
    },
    async (checked) => {
      const { PublicKey } = await import('@solana/web3.js')
      const filter = { programId: new PublicKey(programId) }
      const { value } = await checked.getTokenAccountsByOwner(new PublicKey(owner), filter)
      return value.map(({ pubkey, account }) => ({ address: pubkey.toBase58(), account: accountOf(account) }))
    },
  )
}

function tokenAccount(row: unknown): { address: string; account: NodeAccount } | undefined {
  const { pubkey, account: shown } = fieldsOf(row)
  const account = plainAccount(shown)
  if (account === undefined || typeof pubkey !== 'string' || !isAddress(pubkey)) return undefined
  return { address: pubkey, account }
}

/**
 * Asks the node, and returns what `read` makes of its result. Where that is undefined, because a part is missing or
 * unusual, `check` reads the same answer by web3.js, which then refuses or accepts it as ever.
 */
async function ask<T>(
  connection: Connection,
  { method, params }: RpcRequest,
  read: (result: unknown) => T | undefined,
  check: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { _rpcRequest } = connection as unknown as Requests
  if (_rpcRequest === undefined) return check(connection)
  let answer: unknown
  try {
    answer = await _rpcRequest(method, params)
  } catch (error) {
    return check(answering(connection, () => Promise.reject(error)))
  }
  const fields = fieldsOf(answer)
  const isResult = fields.jsonrpc === '2.0' && typeof fields.id === 'string' && !Object.hasOwn(fields, 'error')
  const value = isResult ? read(fields.result) : undefined
  return value === undefined ? check(answering(connection, async () => answer)) : value
}

/** Returns the same connection with one answer to every request. */
const answering = (connection: Connection, answer: () => Promise<unknown>): Connection =>
  Object.create(connection, { _rpcRequest: { value: answer } }) as Connection

function valueAtSlot(result: unknown): { slot: number; value: unknown } | undefined {
  const { context, value } = fieldsOf(result)
  const { slot } = fieldsOf(context)
  return typeof slot === 'number' ? { slot, value } : undefined
}

/** Returns undefined where one of the items is not what it should be. */
function everyOf<T>(items: readonly unknown[], read: (item: unknown) => T | undefined): T[] | undefined {
  const all: T[] = []
  for (const item of items) {
    const value = read(item)
    if (value === undefined) return undefined
    all.push(value)
  }
  return all
}

const NOTHING: Fields = {}
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : NOTHING)
