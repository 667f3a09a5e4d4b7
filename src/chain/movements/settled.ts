/** Accounts that others use all the time, between two readings of them: which state a gain is measured from. */

import { addressBytes } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { readMint } from '../../solana/token-accounts.ts'
import { decodeTokenAccount } from '../balance-changes.ts'
import type { Account } from '../runs.ts'
import { withoutCounters } from './control.ts'
import { isPlain, offsetsOf } from './holdings.ts'

/** Where a token account keeps its amount. */
const AMOUNT = 64
/** Who owns an asset or may change its metadata stands in these: they must hold still, but for what a collection counts. */
const STRICT: ReadonlySet<string> = new Set([PROGRAMS.core.id, PROGRAMS.tokenMetadata.id])

/**
 * Where an account of others differs between `before` and `again` in its balance alone, or is a program's own that names
 * the wallet at the same places, it is taken as it was when it held less; what instructions move there counts whatever it
 * held while it ran. Null where any account differs in more, or is the wallet's. Only where it is the last try, the
 * wallet and its own token accounts may differ in their balance alone, since anybody can send dust to them: they are
 * taken as they held more, so that no loss is understated.
 */
export function settled(
  wallet: string,
  addresses: readonly string[],
  before: readonly Account[],
  again: readonly Account[],
  isLast = true,
): Account[] | null {
  const taken = addresses.map((address, i) => {
    const [old, now] = [before[i] ?? null, again[i] ?? null]
    return (isLast ? greaterOfOwn(wallet, address, old, now) : undefined) ?? lesser(wallet, address, old, now)
  })
  return taken.some((account) => account === undefined) ? null : (taken as Account[])
}

/** Of two states of the wallet or of a token account of its own that differ in the balance alone; else undefined. */
function greaterOfOwn(wallet: string, address: string, old: Account, now: Account): Account | undefined {
  if (old === null || now === null || old.owner !== now.owner || old.executable || now.executable) return undefined
  if (address === wallet) {
    if (old.owner !== SYSTEM_PROGRAM || old.data.length > 0 || now.data.length > 0) return undefined
    return old.lamports > now.lamports ? old : now
  }
  const [from, to] = [decodeTokenAccount(old), decodeTokenAccount(now)]
  if (from?.owner !== wallet || to?.owner !== wallet || !isSameButAmount(old.data, now.data)) return undefined
  const [a, b] = [old.lamports - now.lamports, from.amount - to.amount]
  if (a >= 0n && b >= 0n) return old
  return a <= 0n && b <= 0n ? now : undefined
}

function isSameButAmount(old: Uint8Array, now: Uint8Array): boolean {
  const parts = (data: Uint8Array) => [data.subarray(0, AMOUNT), data.subarray(AMOUNT + 8)]
  const [a, b] = [parts(old), parts(now)]
  return a.every((part, i) => Buffer.from(part).equals(b[i]!))
}

function lesser(wallet: string, address: string, old: Account, now: Account): Account | undefined {
  if (old === null || now === null) return old === now ? null : undefined
  if (old.owner !== now.owner || old.data.length !== now.data.length) return undefined
  const isSameData = Buffer.from(old.data).equals(now.data)
  if (isSameData && old.lamports === now.lamports) return old
  if (address === wallet) return undefined
  if (STRICT.has(old.owner)) return isSameButCounters(old, now) ? old : undefined
  const least = old.lamports < now.lamports ? old : now
  if (isSameData) return holdsWallet(wallet, old) && isPlain(old.owner) ? undefined : least
  if (old.owner === SYSTEM_PROGRAM || readMint(old) !== null) return undefined
  if (isPlain(old.owner)) return lesserTokens(wallet, old, now)
  const places = (account: NonNullable<Account>) => offsetsOf(account.data, addressBytes(wallet)).join()
  return places(old) === places(now) ? least : undefined
}

/** A collection that others mint into meanwhile. */
function isSameButCounters(old: NonNullable<Account>, now: NonNullable<Account>): boolean {
  if (old.owner !== PROGRAMS.core.id || old.lamports !== now.lamports) return false
  const [from, to] = [withoutCounters(old.data), withoutCounters(now.data)]
  return from !== null && to !== null && from.equals(to)
}

/** Of two states of a token account that differ in amounts alone. */
function lesserTokens(wallet: string, old: NonNullable<Account>, now: NonNullable<Account>): Account | undefined {
  const [from, to] = [decodeTokenAccount(old), decodeTokenAccount(now)]
  if (from === null || to === null || holdsWallet(wallet, old) || holdsWallet(wallet, now)) return undefined
  const { amount: a, ...fixed } = from
  const { amount: b, ...other } = to
  const text = (fields: object) =>
    JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
  if (text(fixed) !== text(other)) return undefined
  const [lamports, amount] = [old.lamports <= now.lamports, a <= b]
  // Wrapped SOL has both in step; where they are not, neither state is the lesser.
  if (old.lamports === now.lamports) return amount ? old : now
  return lamports === amount ? (lamports ? old : now) : undefined
}

const holdsWallet = (wallet: string, { data }: NonNullable<Account>) => offsetsOf(data, addressBytes(wallet)).length > 0
