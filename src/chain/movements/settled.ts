/** Accounts that others use all the time, between two readings of them: which state a gain is measured from. */
import { decodeTokenAccount } from '../balance-changes.ts'
import { addressBytes, SYSTEM_PROGRAM } from '../localnet/addresses.ts'
import { readMint } from '../localnet/rpc/token-state.ts'
import { PROGRAMS } from '../programs.ts'
import type { Account } from '../runs.ts'
import { isPlain, offsetsOf } from './holdings.ts'

/** Who owns an asset or may change its metadata stands in these: they must hold still. */
const STRICT: ReadonlySet<string> = new Set([PROGRAMS.core.id, PROGRAMS.tokenMetadata.id])

/**
 * Where an account of others differs between `before` and `again` in its balance alone, or is a program's own that names
 * the wallet at the same places, it is taken as it was when it held less: what it gains is then not understated. Null
 * where any account differs in more, or is the wallet's.
 */
export function settled(
  wallet: string,
  addresses: readonly string[],
  before: readonly Account[],
  again: readonly Account[],
): Account[] | null {
  const taken = addresses.map((address, i) => lesser(wallet, address, before[i] ?? null, again[i] ?? null))
  return taken.some((account) => account === undefined) ? null : (taken as Account[])
}

function lesser(wallet: string, address: string, old: Account, now: Account): Account | undefined {
  if (old === null || now === null) return old === now ? null : undefined
  if (old.owner !== now.owner || old.data.length !== now.data.length) return undefined
  const isSameData = Buffer.from(old.data).equals(now.data)
  if (isSameData && old.lamports === now.lamports) return old
  if (address === wallet || STRICT.has(old.owner)) return undefined
  const least = old.lamports < now.lamports ? old : now
  if (isSameData) return holdsWallet(wallet, old) && isPlain(old.owner) ? undefined : least
  if (old.owner === SYSTEM_PROGRAM || readMint(old) !== null) return undefined
  if (isPlain(old.owner)) return lesserTokens(wallet, old, now)
  const places = (account: NonNullable<Account>) => offsetsOf(account.data, addressBytes(wallet)).join()
  return places(old) === places(now) ? least : undefined
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
