/** Lists the accounts of a program at one slot, and refuses every answer that does not match the question. */
import { ApiError, internal } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { isAddress } from '../../solana/addresses.ts'
import type { Chain } from '../connection.ts'
import { AnswerTooLarge } from '../nodes/large-answer.ts'
import { atSlot, NodeRefusal } from '../nodes/node-call.ts'
import { nodeReason } from '../nodes/rpc-faults.ts'
import { KeyTable } from './key-table.ts'

/** Most token accounts or assets in one reading. */
export const MOST_ACCOUNTS = 1_000_000
/** Most bytes requested of an account's data, and most bytes of its whole entry as JSON. */
export const MOST_SLICE_BYTES = 1_024
const MOST_ITEM_BYTES = 4_096
/** A million entries with the longest slices that tokens without extensions have. */
const MOST_ANSWER_BYTES = 1_024 * 1_024 * 1_024
const SNAPSHOT_LIMITS: ScanLimits = { accounts: MOST_ACCOUNTS, milliseconds: 180_000 }
/** Most base58 characters of an address. */
const ADDRESS_CHARACTERS = 44

interface AccountScan {
  /** What is read, for messages. */
  what: string
  program: string
  filters: readonly object[]
  dataSlice: { offset: number; length: number }
  /** Slot that the node must have reached. */
  minSlot: number
  /** The default is finalized, for readings that are stored. */
  commitment?: 'confirmed' | 'finalized'
  /** The default is the most of a snapshot. */
  limits?: ScanLimits
}

/** Most accounts of a reading, and milliseconds for the whole answer. */
export interface ScanLimits {
  accounts: number
  milliseconds: number
}

/** An account as the scan returns it: its address, the bytes of its slice, and the length of its whole data. */
export interface ScannedAccount {
  address: string
  data: Buffer
  space: number
}

/** The node's answer contradicts itself or the question. */
export class UnbelievableAnswer extends Error {
  override readonly name = 'UnbelievableAnswer'
}

type WholeScan = Omit<AccountScan, 'dataSlice' | 'commitment'> & { bytes: number }

/** Lists accounts with all of their bytes, confirmed, but not those for which `decode` is null. Throws like `scanAccounts`. */
export async function scanDecoded<T>(
  chain: Pick<Chain, 'callLarge'>,
  { bytes: length, ...scan }: WholeScan,
  decode: (account: Pick<ChainAccount, 'owner' | 'data'>, address: string) => T | null,
): Promise<T[]> {
  const found: T[] = []
  const asked = { ...scan, dataSlice: { offset: 0, length }, commitment: 'confirmed' as const }
  await scanAccounts(chain, asked, ({ address, data }) => {
    const read = decode({ owner: scan.program, data }, address)
    if (read !== null) found.push(read)
  })
  return found
}

/**
 * Calls `take` with each account, and returns the slot of all of them and their number. Throws internal_error with a
 * remedy when the node refuses or cannot answer, UnbelievableAnswer for an account that does not belong to the answer.
 */
export async function scanAccounts(
  chain: Pick<Chain, 'callLarge'>,
  { what, program, filters, dataSlice, minSlot, commitment = 'finalized', limits = SNAPSHOT_LIMITS }: AccountScan,
  take: (account: ScannedAccount) => void,
): Promise<{ slot: number; accounts: number }> {
  const seen = new KeyTable(ADDRESS_CHARACTERS)
  const name = new Uint8Array(ADDRESS_CHARACTERS)
  const options = { encoding: 'base64', commitment, withContext: true, minContextSlot: minSlot }
  const call = {
    method: 'getProgramAccounts',
    params: [program, { ...options, filters, dataSlice }],
    most: { items: limits.accounts, itemBytes: MOST_ITEM_BYTES, bytes: MOST_ANSWER_BYTES },
    limitMs: limits.milliseconds,
  }
  const takeItem = (item: unknown) => {
    const { pubkey, account } = (item ?? {}) as { pubkey?: unknown; account?: unknown }
    if (typeof pubkey !== 'string' || !isAddress(pubkey)) throw unbelievable('an account without an address')
    name.fill(0)
    Buffer.from(name.buffer).write(pubkey, 'latin1')
    if (!seen.add(name).isNew) throw unbelievable(`the account ${pubkey} twice`)
    take(scanned(pubkey, account, program, dataSlice))
  }
  try {
    const result = await chain.callLarge(call, takeItem)
    const { slot } = atSlot<unknown[]>(result, (value) => Array.isArray(value) && value.length === 0)
    if (slot < minSlot) throw unbelievable(`the slot ${slot}, and had been at ${minSlot}`)
    return { slot, accounts: seen.count }
  } catch (error) {
    throw scanFault(what, limits, error)
  }
}

const unbelievable = (found: string) => new UnbelievableAnswer(`it shows ${found}`)

function scanned(address: string, account: unknown, program: string, slice: AccountScan['dataSlice']): ScannedAccount {
  const { owner, data, space } = (account ?? {}) as { owner?: unknown; data?: unknown; space?: unknown }
  if (owner !== program) throw unbelievable('an account of another program')
  if (!Array.isArray(data) || data.length !== 2 || typeof data[0] !== 'string' || data[1] !== 'base64') {
    throw unbelievable('an account without its data')
  }
  const bytes = Buffer.from(data[0], 'base64')
  if (bytes.length > slice.length) throw unbelievable('more of an account than was requested')
  // Nodes before 1.14 do not report the length of the data; it is at least as long as what they show.
  const known = Number.isSafeInteger(space) ? (space as number) : slice.offset + bytes.length
  if (known < slice.offset + bytes.length) throw unbelievable('an account that is longer than it says')
  return { address, data: bytes, space: known }
}

/** Nodes refuse requests for which they would have to search all of their accounts. */
const NOT_INDEXED = -32010
const WAY_OUT =
  'set rpc-url to a node that lists the accounts of programs (getProgramAccounts), such as one of your own'

function scanFault(what: string, limits: ScanLimits, error: unknown): unknown {
  if (error instanceof UnbelievableAnswer) return error
  if (error instanceof AnswerTooLarge) {
    return internal(
      `${what} was given up: ${error.message}; up to ${limits.accounts.toLocaleString('en')} accounts are read`,
      { cause: error },
    )
  }
  if (error instanceof NodeRefusal) {
    const isExcluded = error.code === NOT_INDEXED || /excluded from account secondary indexes/i.test(error.message)
    const reason = isExcluded
      ? 'the RPC node does not list the accounts of this address'
      : `the RPC node refuses it: ${nodeReason(error)}`
    return internal(`${what} failed: ${reason}; ${WAY_OUT}`, { cause: error })
  }
  if (error instanceof ApiError || (error as Error).name === 'ShuttingDown') return error
  const isLate = (error as Error).name === 'TimeoutError'
  const why = isLate ? `it did not answer in ${limits.milliseconds / 1000} s` : nodeReason(error)
  return internal(`${what} failed at the RPC node: ${why}; ${WAY_OUT}`, { cause: error })
}
