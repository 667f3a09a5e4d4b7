/** Decodes the accounts that prove a passport, from the layouts of their programs alone. */
import { bytesOfBase64, equalBytes, readI64, readU64 } from '../claim-page/browser/bytes.ts'
import { base58Of } from '../claim-page/browser/program-addresses.ts'
import { ByteReader } from '../solana/byte-reader.ts'
import { totalOf, unlockedAt } from '../solana/lock-schedule.ts'
import { DBC_POOL_AUTHORITY, PROGRAMS } from '../solana/programs.ts'

export interface ShownAccount {
  owner: string
  data: Uint8Array
}

export type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** At most 100 accounts at one slot, in the order of the addresses. Throws an Error for an incomplete answer. */
export async function accountsOf(
  call: Call,
  addresses: readonly string[],
): Promise<{ slot: number; accounts: (ShownAccount | null)[] }> {
  const answer = (await call('getMultipleAccounts', [addresses, { encoding: 'base64', commitment: 'confirmed' }])) as {
    context?: { slot?: unknown }
    value?: unknown
  }
  const [slot, value] = [answer?.context?.slot, answer?.value]
  if (!Number.isSafeInteger(slot) || !Array.isArray(value) || value.length !== addresses.length) {
    throw new Error('the node’s answer is incomplete')
  }
  return { slot: slot as number, accounts: value.map(shown) }
}

function shown(value: { owner?: unknown; data?: unknown } | null): ShownAccount | null {
  if (value === null) return null
  const { owner, data } = value
  if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string') {
    throw new Error('the node’s answer is incomplete')
  }
  return { owner, data: bytesOfBase64(data[0]) }
}

/** Epoch and Unix seconds of the chain's clock. */
export function clockOf(account: ShownAccount | null): { epoch: bigint; now: bigint } {
  if (account === null || account.data.length < 40) throw new Error('the node shows no clock')
  return { epoch: readU64(account.data, 16), now: readI64(account.data, 32) }
}

export interface ShownMetadata {
  name: string
  symbol: string
  authority: string | null
  isMutable: boolean
}

/** Metadata of Metaplex for the mint; null for any other account. */
export function metaplexOf(account: ShownAccount | null, mint: string): ShownMetadata | null {
  if (account?.owner !== PROGRAMS.tokenMetadata.id) return null
  try {
    const reader = new ByteReader(account.data)
    if (reader.u8() !== 4) return null
    const authority = reader.key()
    if (reader.key() !== mint) return null
    const [name, symbol] = [text(reader), text(reader)]
    text(reader)
    reader.take(2)
    if (reader.u8() === 1) reader.take(reader.u32() * 34)
    reader.take(1)
    return { name, symbol, authority, isMutable: reader.u8() === 1 }
  } catch {
    return null
  }
}

/** Metadata in a mint of Token-2022, from the data of its extension. */
export function ownMetadataOf(data: Uint8Array | undefined): ShownMetadata | null {
  if (data === undefined) return null
  try {
    const reader = new ByteReader(data)
    const authority = reader.nonZeroKey()
    reader.take(32)
    return { name: text(reader), symbol: text(reader), authority, isMutable: authority !== null }
  } catch {
    return null
  }
}

const text = (reader: ByteReader): string => reader.text(reader.u32()).replace(/\0+$/, '')

export interface ShownLock {
  recipient: string
  mint: string
  isCancelled: boolean
  canBeCancelled: boolean
  /** Unix seconds of the last payout. */
  endsAt: bigint
  /** Raw units that are not due yet, and that are not paid out yet. */
  left: bigint
  owed: bigint
}

/** Only the creator may cancel. Launch curves make such locks, and their program never cancels one. */
const BY_CREATOR = 1
const LOCK_ACCOUNT = Uint8Array.of(0xf4, 0x77, 0xb7, 0x04, 0x49, 0x74, 0x87, 0xc3)

/** A lock of Jupiter Lock at a time; null for any other account. */
export function lockOf(account: ShownAccount | null, now: bigint): ShownLock | null {
  if (account?.owner !== PROGRAMS.lock.id || account.data.length < 208) return null
  const { data } = account
  if (!equalBytes(data.subarray(0, 8), LOCK_ACCOUNT)) return null
  const [cliffTime, frequency, cliffAmount, amountPerPeriod, periods, claimed] = [144, 152, 160, 168, 176, 184].map(
    (at) => readU64(data, at),
  ) as [bigint, bigint, bigint, bigint, bigint, bigint]
  const schedule = { cliffTime, frequency, cliffAmount, amountPerPeriod, periods }
  const total = totalOf(schedule)
  const isCancelled = readU64(data, 200) !== 0n
  return {
    recipient: base58Of(data.subarray(8, 40)),
    mint: base58Of(data.subarray(40, 72)),
    isCancelled,
    canBeCancelled:
      data[138] !== 0 && !(data[138] === BY_CREATOR && base58Of(data.subarray(72, 104)) === DBC_POOL_AUTHORITY),
    endsAt: amountPerPeriod > 0n ? cliffTime + frequency * periods : cliffTime,
    left: isCancelled ? 0n : total - unlockedAt(schedule, now),
    owed: isCancelled ? 0n : total - claimed,
  }
}

export interface ShownPool {
  mints: string[]
  liquidity: bigint
  /** Liquidity that the pool itself counts as locked for good. */
  locked: bigint
  isMigrated: boolean
}

const POOL_ACCOUNT = Uint8Array.of(0xf1, 0x9a, 0x6d, 0x04, 0x11, 0xb1, 0x6d, 0xbc)
const CURVE_ACCOUNTS = [
  Uint8Array.of(0xd5, 0xe0, 0x05, 0xd1, 0x62, 0x45, 0x77, 0x5c),
  Uint8Array.of(0xed, 0xdb, 0xb8, 0x17, 0x2a, 0xbd, 0xa9, 0x23),
]
const COMPOUNDING = 2
/** Liquidity without an owner in a pool that compounds its fees. */
const DEAD_LIQUIDITY = 100n << 64n

/** A pool of DAMM v2 or a launch curve of DBC; null for any other account. */
export function poolOf(account: ShownAccount | null, type: 'dbc' | 'damm_v2'): ShownPool | null {
  if (account === null) return null
  const { owner, data } = account
  const kind = data.subarray(0, 8)
  const key = (at: number) => base58Of(data.subarray(at, at + 32))
  if (type === 'dbc') {
    if (owner !== PROGRAMS.dbc.id || data.length < 312 || !CURVE_ACCOUNTS.some((each) => equalBytes(kind, each)))
      return null
    return { mints: [key(136)], liquidity: 1n, locked: 1n, isMigrated: data[305] === 1 }
  }
  if (owner !== PROGRAMS.dammV2.id || data.length < 1_112 || !equalBytes(kind, POOL_ACCOUNT)) return null
  const locked = u128(data, 552) + (data[484] === COMPOUNDING ? DEAD_LIQUIDITY : 0n)
  return { mints: [key(168), key(200)], liquidity: u128(data, 360), locked, isMigrated: false }
}

const POSITION_ACCOUNT = Uint8Array.of(0xaa, 0xbc, 0x8f, 0xe4, 0x7a, 0x40, 0xf7, 0xd0)

/** Liquidity of a pool's position that is not locked for good; 0 for any other account. */
export function positionLiquidity(account: ShownAccount | null, pool: string, nftMint: string): bigint {
  if (account?.owner !== PROGRAMS.dammV2.id || account.data.length < 408) return 0n
  const { data } = account
  const key = (at: number) => base58Of(data.subarray(at, at + 32))
  if (!equalBytes(data.subarray(0, 8), POSITION_ACCOUNT) || key(8) !== pool || key(40) !== nftMint) return 0n
  return u128(data, 152) + u128(data, 168)
}

const u128 = (data: Uint8Array, at: number): bigint => readU64(data, at) + (readU64(data, at + 8) << 64n)
