/** What people approve: who gets how much and which control is lost, as JSON, and whether a later movement exceeds it. */
import { solText, tokenText } from '../solana/amounts.ts'
import type { HolderPower } from '../solana/token-authorities.ts'
import type { Movement } from './movement/movement.ts'
import { spendOf } from './rules/spend.ts'

/** The meaning of a movement, with amounts as digits. */
export interface ApprovedMovement {
  /** Lamports that leave, with fee and rent. */
  lamports: string
  /** Tokens that leave, in raw units. */
  tokens: { mint: string; amount: string }[]
  /** Accounts of others that gain. The mint is null for lamports. */
  receivers: { address: string; owner: string | null; mint: string | null; amount: string }[]
  /** Authorities that the wallet loses. */
  authorities: { address: string; what: string; to: string | null }[]
  delegates: { address: string; kind: string; delegate: string | null; amount: string | null }[]
  /** What it does to holders of a mint, and with which of its authorities. */
  powers: { mint: string; power: HolderPower | null; account: string; what: string }[]
  closes: { address: string; what: string; to: string[] }[]
  programs: string[]
}

export function approvedMovement(movement: Movement): ApprovedMovement {
  const { lamports, tokens } = spendOf(movement)
  return {
    lamports: String(lamports),
    tokens: tokens.map(({ mint, amount }) => ({ mint, amount: String(amount) })),
    receivers: movement.destinations.map(({ address, owner, mint, amount }) => ({
      address,
      owner,
      mint,
      amount: String(amount),
    })),
    authorities: movement.authority_changes.map(({ address, what, to }) => ({ address, what, to })),
    delegates: movement.delegates.map(({ address, kind, delegate, amount }) => ({
      address,
      kind,
      delegate,
      amount: amount === null ? null : String(amount),
    })),
    powers: movement.powers.map(({ mint, power, account, what }) => ({ mint, power, account, what })),
    closes: movement.closes.map(({ address, what, to }) => ({ address, what, to: [...to] })),
    programs: [...new Set(movement.programs.map(({ program }) => program))],
  }
}

/**
 * Returns in one sentence what a movement does beyond the approved one, or null. Less of everything is within it.
 */
export function excessOver(approved: ApprovedMovement, movement: Movement): string | null {
  const now = approvedMovement(movement)
  if (BigInt(now.lamports) > BigInt(approved.lamports)) {
    return `${solText(now.lamports)} would leave, but ${solText(approved.lamports)} were approved`
  }
  for (const { mint, amount } of now.tokens) {
    const limit = sumOf(approved.tokens.filter((each) => each.mint === mint))
    if (BigInt(amount) > limit)
      return `${tokenText(mint, amount)} would leave, but ${tokenText(mint, limit)} were approved`
  }
  for (const { address, owner, mint, amount } of now.receivers) {
    const known = approved.receivers.filter((each) => each.address === address && each.mint === mint)
    const named = tokenText(mint, amount)
    if (!known.some((each) => each.owner === owner)) return `${address} would receive ${named}, which was not approved`
    const limit = sumOf(known)
    if (BigInt(amount) > limit) return `${address} would receive ${named}, but ${tokenText(mint, limit)} were approved`
  }
  return (
    strange(now.authorities, approved.authorities, ({ what, address }) => `the ${what} of ${address} would change`) ??
    strange(
      now.delegates.map(withoutAmount),
      approved.delegates.filter(({ amount, address }) => fits(amount, now, address)).map(withoutAmount),
      ({ address, kind }) => `the ${kind} ${address} would get another delegate`,
    ) ??
    // What was approved before there were powers has none.
    strange(now.powers, approved.powers ?? [], ({ mint, what }) => `${what} (mint ${mint})`) ??
    strange(now.closes, approved.closes, ({ address }) => `${address} would be closed`) ??
    strange(now.programs, approved.programs, (program) => `the program ${program} would run`)
  )
}

const sumOf = (amounts: readonly { amount: string }[]): bigint =>
  amounts.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

const withoutAmount = ({ amount: _, ...delegation }: ApprovedMovement['delegates'][number]) => delegation

/** Whether the delegate of an account may take no more than the approved amount. */
function fits(approved: string | null, now: ApprovedMovement, address: string): boolean {
  const asked = now.delegates.find((each) => each.address === address)?.amount ?? null
  if (asked === null || approved === null) return asked === approved
  return BigInt(asked) <= BigInt(approved)
}

/** Returns a sentence about the first entry that is not among the approved ones. */
function strange<T>(entries: readonly T[], approved: readonly T[], say: (entry: T) => string): string | null {
  const known = new Set(approved.map((each) => JSON.stringify(each)))
  const other = entries.find((each) => !known.has(JSON.stringify(each)))
  return other === undefined ? null : `${say(other)}, which was not approved`
}
