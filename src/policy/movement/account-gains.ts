/** Computes the gains of each account that may not belong to the wallet alone, from its balance and from the instructions. */
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { AmountsByMint } from './amounts-by-mint.ts'
import type { InstructedTransfer } from './instruction-effects.ts'
import type { Destination } from './movement.ts'
import type { AccountSnapshot, TouchedAccount } from './touched-accounts.ts'

/** Sums what instructions move into each account, including amounts that later leave it again. */
export function receivedAmounts(transfers: readonly InstructedTransfer[]): ReadonlyMap<string, AmountsByMint> {
  const received = new Map<string, AmountsByMint>()
  for (const { to, mint, amount } of transfers) {
    if (to === null) continue
    const sums = received.get(to) ?? new AmountsByMint()
    received.set(to, sums)
    sums.add(mint, amount)
  }
  return received
}

/** The balance may be from another moment than the simulation, so a gain is at least what instructions move there. */
export function accountGains(touched: TouchedAccount, received: AmountsByMint = new AmountsByMint()): Destination[] {
  if (touched.isSafe) return []
  const gains = [...balanceGains(touched)]
  for (const key of received.mints()) {
    const mint = key === WRAPPED_SOL ? null : key
    const same = gains.filter((gain) => (gain.mint ?? WRAPPED_SOL) === key)
    const missing = received.of(key) - same.reduce((sum, { amount }) => sum + amount, 0n)
    if (missing <= 0n) continue
    const [first] = same
    if (first === undefined) gains.push(destinationOf(touched, mint, missing))
    else first.amount += missing
  }
  return gains
}

function* balanceGains(touched: TouchedAccount): Iterable<Destination> {
  const { before, after } = touched
  if (after.account === null) return
  const tokens = after.token === null ? 0n : after.token.amount - tokensBefore(touched)
  if (after.token !== null && tokens > 0n) yield destinationOf(touched, after.token.mint, tokens)
  const lamports = after.account.lamports - (before.account?.lamports ?? 0n)
  const rest = isWrappedSol(after) && tokens > 0n ? lamports - tokens : lamports
  if (rest > 0n) yield destinationOf(touched, null, rest)
}

/** Tokens that the account held before, or 0 when it had another owner or mint. */
function tokensBefore({ before: { token: old }, after: { token: now } }: TouchedAccount): bigint {
  return old !== null && old.owner === now?.owner && old.mint === now.mint ? old.amount : 0n
}

export const isWrappedSol = ({ token }: AccountSnapshot): boolean => token?.mint === WRAPPED_SOL

export function destinationOf(touched: TouchedAccount, mint: string | null, amount: bigint): Destination {
  const { address, before, after, openings } = touched
  const { account, token } = after.account === null ? before : after
  // An account that is opened and closed within the transaction is visible only by its opening.
  const opened = account === null ? openings.at(-1) : undefined
  return {
    address,
    owner: token?.owner ?? opened?.owner ?? null,
    mint,
    amount,
    program: account?.owner ?? opened?.program ?? SYSTEM_PROGRAM,
    others: [token?.closeAuthority, token?.delegate].filter((key) => typeof key === 'string'),
    created: before.account === null,
    minimum: touched.minimum,
  }
}
