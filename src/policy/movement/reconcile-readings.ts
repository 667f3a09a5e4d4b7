/** Compares readings of busy accounts before and after a simulation, and selects the state from which a gain is measured. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { readMint, readTokenAccount, TOKEN_AMOUNT_OFFSET } from '../../solana/token-accounts.ts'
import { withoutCounters } from './control-changes.ts'
import { isPlainProgram, offsetsOf } from './touched-accounts.ts'

const AMOUNT_BYTES = 8
/**
 * Accounts of these programs contain the owner of an asset and its update authority. They must not change, except a
 * collection's counters.
 */
const STRICT_PROGRAMS: ReadonlySet<string> = new Set([PROGRAMS.core.id, PROGRAMS.tokenMetadata.id])

/**
 * Returns the states to measure from, or null if the readings cannot be reconciled. Accounts of others may differ in
 * balance, or in data that names the wallet at the same offsets; the smaller state is used. The wallet's accounts must
 * not change. On the last attempt they may have received dust; the larger state is used.
 */
export function reconcileReadings(
  wallet: string,
  addresses: readonly string[],
  before: readonly (ChainAccount | null)[],
  reread: readonly (ChainAccount | null)[],
  isLast = true,
): (ChainAccount | null)[] | null {
  const reconciled: (ChainAccount | null)[] = []
  for (const [i, address] of addresses.entries()) {
    const [old, now] = [before[i] ?? null, reread[i] ?? null]
    const larger = isLast ? largerOfOwn(wallet, address, old, now) : undefined
    const account = larger ?? lesserState(wallet, address, old, now)
    if (account === undefined) return null
    reconciled.push(account)
  }
  return reconciled
}

/** Returns the larger of two states of the wallet or its token account that differ only in balance, else undefined. */
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

/** Returns the smaller state, or undefined when the two states cannot be reconciled. */
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

/** Whether both are states of one collection into which others minted between the readings. */
function isSameButCounters(old: ChainAccount, now: ChainAccount): boolean {
  if (old.lamports !== now.lamports) return false
  const [from, to] = [withoutCounters(old), withoutCounters(now)]
  return from !== null && to !== null && from.equals(to)
}

/** Returns the smaller of two states of a token account that differ only in amounts, else undefined. */
function lesserTokens(wallet: string, old: ChainAccount, now: ChainAccount): ChainAccount | undefined {
  const [from, to] = [readTokenAccount(old), readTokenAccount(now)]
  if (from === null || to === null || namesWallet(wallet, old) || namesWallet(wallet, now)) return undefined
  const { amount: oldAmount, ...oldFields } = from
  const { amount: newAmount, ...newFields } = to
  if (fieldsText(oldFields) !== fieldsText(newFields)) return undefined
  const [hadLessLamports, hadLessTokens] = [old.lamports <= now.lamports, oldAmount <= newAmount]
  // Lamports and tokens of wrapped SOL change together. If they do not, neither state is the smaller.
  if (old.lamports === now.lamports) return hadLessTokens ? old : now
  if (hadLessLamports !== hadLessTokens) return undefined
  return hadLessLamports ? old : now
}

const fieldsText = (fields: object): string =>
  JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

const namesWallet = (wallet: string, { data }: ChainAccount): boolean =>
  offsetsOf(data, addressBytes(wallet)).length > 0
