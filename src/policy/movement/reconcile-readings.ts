/** Accounts that others use all the time, read before and after a simulation: which state a gain is measured from. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { readMint, readTokenAccount } from '../../solana/token-accounts.ts'
import { withoutCounters } from './core-collections.ts'
import { isPlainProgram, offsetsOf } from './touched-accounts.ts'

/** Where a token account keeps its amount, a u64. */
const TOKEN_AMOUNT_OFFSET = 64
const AMOUNT_BYTES = 8
/** Who owns an asset or may change its metadata stands in these: they must hold still, but for what a collection counts. */
const STRICT_PROGRAMS: ReadonlySet<string> = new Set([PROGRAMS.core.id, PROGRAMS.tokenMetadata.id])

/**
 * The state to measure from, in the order of `addresses`; null where the readings differ in more than can be reconciled.
 * Where an account of others differs between `before` and `again` in its balance alone, or is a program's own that names
 * the wallet at the same places, the state that holds less is taken: what instructions move there counts whatever it held
 * meanwhile. An account of the wallet must hold still, except on the last attempt, where anybody can have sent dust: the
 * wallet and its token accounts may then differ in their balance, and the state that holds more is taken.
 */
export function reconcileReadings(
  wallet: string,
  addresses: readonly string[],
  before: readonly (ChainAccount | null)[],
  again: readonly (ChainAccount | null)[],
  isLast = true,
): (ChainAccount | null)[] | null {
  const reconciled: (ChainAccount | null)[] = []
  for (const [i, address] of addresses.entries()) {
    const [old, now] = [before[i] ?? null, again[i] ?? null]
    const larger = isLast ? largerOfOwn(wallet, address, old, now) : undefined
    const account = larger ?? lesserState(wallet, address, old, now)
    if (account === undefined) return null
    reconciled.push(account)
  }
  return reconciled
}

/** The larger of two states of the wallet, or of a token account of its own, that differ in the balance alone; else undefined. */
function largerOfOwn(
  wallet: string,
  address: string,
  old: ChainAccount | null,
  now: ChainAccount | null,
): ChainAccount | undefined {
  if (old === null || now === null || old.owner !== now.owner || old.executable || now.executable) return undefined
  if (address === wallet) {
    if (old.owner !== SYSTEM_PROGRAM || old.data.length > 0 || now.data.length > 0) return undefined
    return old.lamports > now.lamports ? old : now
  }
  const [from, to] = [readTokenAccount(old), readTokenAccount(now)]
  if (from?.owner !== wallet || to?.owner !== wallet || !isSameButAmount(old.data, now.data)) return undefined
  const [lamports, tokens] = [old.lamports - now.lamports, from.amount - to.amount]
  if (lamports >= 0n && tokens >= 0n) return old
  return lamports <= 0n && tokens <= 0n ? now : undefined
}

function isSameButAmount(old: Uint8Array, now: Uint8Array): boolean {
  const rest = (data: Uint8Array) => [
    data.subarray(0, TOKEN_AMOUNT_OFFSET),
    data.subarray(TOKEN_AMOUNT_OFFSET + AMOUNT_BYTES),
  ]
  return isSameBytes(Buffer.concat(rest(old)), Buffer.concat(rest(now)))
}

const isSameBytes = (old: Uint8Array, now: Uint8Array): boolean => Buffer.from(old).equals(now)

/** Undefined where the two states cannot be reconciled. */
function lesserState(
  wallet: string,
  address: string,
  old: ChainAccount | null,
  now: ChainAccount | null,
): ChainAccount | null | undefined {
  if (old === null || now === null) return old === now ? null : undefined
  if (old.owner !== now.owner || old.data.length !== now.data.length) return undefined
  const isSameData = isSameBytes(old.data, now.data)
  if (isSameData && old.lamports === now.lamports) return old
  if (address === wallet) return undefined
  if (STRICT_PROGRAMS.has(old.owner)) return isSameButCounters(old, now) ? old : undefined
  const least = old.lamports < now.lamports ? old : now
  if (isSameData) return namesWallet(wallet, old) && isPlainProgram(old.owner) ? undefined : least
  if (old.owner === SYSTEM_PROGRAM || readMint(old) !== null) return undefined
  if (isPlainProgram(old.owner)) return lesserTokens(wallet, old, now)
  const placesIn = ({ data }: ChainAccount) => offsetsOf(data, addressBytes(wallet)).join()
  return placesIn(old) === placesIn(now) ? least : undefined
}

/** Whether both are states of one collection that others mint into meanwhile. */
function isSameButCounters(old: ChainAccount, now: ChainAccount): boolean {
  if (old.owner !== PROGRAMS.core.id || old.lamports !== now.lamports) return false
  const [from, to] = [withoutCounters(old.data), withoutCounters(now.data)]
  return from !== null && to !== null && from.equals(to)
}

/** The lesser of two states of a token account that differ in amounts alone; else undefined. */
function lesserTokens(wallet: string, old: ChainAccount, now: ChainAccount): ChainAccount | undefined {
  const [from, to] = [readTokenAccount(old), readTokenAccount(now)]
  if (from === null || to === null || namesWallet(wallet, old) || namesWallet(wallet, now)) return undefined
  const { amount: oldAmount, ...oldFields } = from
  const { amount: newAmount, ...newFields } = to
  if (fieldsText(oldFields) !== fieldsText(newFields)) return undefined
  const [hadLessLamports, hadLessTokens] = [old.lamports <= now.lamports, oldAmount <= newAmount]
  // Lamports and tokens of wrapped SOL move together; where they do not, neither state is the lesser.
  if (old.lamports === now.lamports) return hadLessTokens ? old : now
  if (hadLessLamports !== hadLessTokens) return undefined
  return hadLessLamports ? old : now
}

const fieldsText = (fields: object): string =>
  JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

const namesWallet = (wallet: string, { data }: ChainAccount): boolean =>
  offsetsOf(data, addressBytes(wallet)).length > 0
