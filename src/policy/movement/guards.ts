/** The guards that a transaction needs so that no more can land than its simulation shows (docs/signer.md). */
import type { Guard, TokenGuard } from '../../solana/guards.ts'
import { associatedTokenAddress } from '../../solana/program-addresses.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { InstructedTransfer, InstructionEffects } from './instruction-effects.ts'
import type { Movement } from './movement.ts'
import type { TouchedAccount, TouchedAccounts } from './touched-accounts.ts'

/**
 * Guards of the wallet and of each token account that stays its own, those first that lose something. What others pay in
 * is not demanded, because it may be less when the transaction lands. `fee` is in lamports, 0 if another account pays;
 * `memory` is the account to which the wallet lends its rent for guards.
 */
export function neededGuards(
  wallet: string,
  accounts: TouchedAccounts,
  { transfers }: InstructionEffects,
  terms: { fee: bigint; memory: string | undefined },
): Guard[] {
  const tokens = [...accounts.values()].flatMap((touched) => guardOfTokens(wallet, touched, accounts, transfers) ?? [])
  const losing = tokens.filter(({ change }) => change !== null && change < 0n)
  const others = tokens.filter((guard) => !losing.includes(guard))
  return [...guardOfWallet(wallet, accounts, transfers, terms), ...losing, ...others]
}

function guardOfWallet(
  wallet: string,
  accounts: TouchedAccounts,
  transfers: readonly InstructedTransfer[],
  { fee, memory }: { fee: bigint; memory: string | undefined },
): Guard[] {
  const touched = accounts.get(wallet)
  if (touched === undefined) return []
  const [before, after] = [touched.before.account, touched.after.account]
  // Nothing is left in a wallet that is emptied; one that has nothing yet may be paid into before this lands.
  if (before !== null && after === null) return []
  if (after !== null && (after.owner !== SYSTEM_PROGRAM || after.data.length > 0)) return []
  // Accounts that the transaction closes are one purse with the wallet, like the memory of the guards themselves.
  const closed = [...accounts.values()].filter(({ isOwnToken, after: { account } }) => isOwnToken && account === null)
  const purse = new Set([wallet, memory, ...closed.map(({ address }) => address)])
  const left = sumOf(transfers, ({ from, to, mint }) => isSol(mint) && isIn(purse, from) && !isIn(purse, to))
  const emptied = closed.reduce((sum, { before: { account } }) => sum + (account?.lamports ?? 0n), 0n)
  const lost = (before?.lamports ?? 0n) - (after?.lamports ?? 0n) - fee
  return [{ kind: 'wallet', address: wallet, change: -larger(left - emptied, lost) }]
}

function guardOfTokens(
  wallet: string,
  { address, before, after }: TouchedAccount,
  accounts: TouchedAccounts,
  transfers: readonly InstructedTransfer[],
): TokenGuard | null {
  const { token, account } = after
  if (token === null || account === null || token.owner !== wallet) return null
  const isKnown = before.token?.owner === wallet && before.token.mint === token.mint
  const shown = token.amount - (isKnown ? (before.token?.amount ?? 0n) : 0n)
  const isOfMint = (mint: string | null) => mint === token.mint || (mint === null && token.mint === WRAPPED_SOL)
  const isOwn = (from: string | null) =>
    from !== null && (from === wallet || accounts.get(from)?.before.token?.owner === wallet)
  const left = sumOf(transfers, ({ from, mint }) => from === address && mint === token.mint)
  const moved = sumOf(transfers, ({ from, to, mint }) => to === address && isOfMint(mint) && isOwn(from))
  const change = smaller(shown, moved - left)
  const isAssociated = address === associatedTokenAddress(wallet, token.mint, account.owner)
  return {
    kind: 'token',
    address,
    change: isKnown ? change : null,
    least: isKnown ? 0n : larger(change, 0n),
    owner: isAssociated ? null : wallet,
    mint: isAssociated ? null : token.mint,
    delegate: token.delegate,
    delegated: token.delegate === null ? 0n : token.delegatedAmount,
    closeAuthority: token.closeAuthority,
    isFrozen: token.state === 'frozen',
  }
}

/** What may leave an account beyond the simulation, because the price may move as far as the act says. */
export interface Slack {
  /** A wallet, or one of its token accounts. */
  account: string
  /** Null for lamports. */
  mint: string | null
  /** Lamports or raw units. */
  amount: bigint
}

const slackOf = (slack: readonly Slack[], account: string): bigint =>
  slack.reduce((sum, each) => (each.account === account ? sum + each.amount : sum), 0n)

/** The guards with room for the slack. */
export const withRoom = (guards: readonly Guard[], slack: readonly Slack[]): Guard[] =>
  guards.map((guard): Guard => {
    const room = slackOf(slack, guard.address)
    return guard.change === null || room === 0n ? guard : { ...guard, change: guard.change - room }
  })

/** The movement of the worst case: all slack of the wallet is used. */
export function withSlack(movement: Movement, slack: readonly Slack[]): Movement {
  if (slack.length === 0 || movement.err !== null) return movement
  const tokens = new Map(movement.tokens_out.map(({ mint, amount }) => [mint, amount]))
  let { lamports_out } = movement
  for (const { mint, amount } of slack) {
    if (mint === null) lamports_out += amount
    else tokens.set(mint, (tokens.get(mint) ?? 0n) + amount)
  }
  return {
    ...movement,
    lamports_out,
    tokens_out: [...tokens].map(([mint, amount]) => ({ mint, amount })),
    guards: { ...movement.guards, needed: withRoom(movement.guards.needed, slack) },
  }
}

const isSol = (mint: string | null): boolean => mint === null || mint === WRAPPED_SOL
const isIn = (purse: ReadonlySet<string | undefined>, address: string | null): boolean =>
  address !== null && purse.has(address)
const sumOf = (transfers: readonly InstructedTransfer[], counts: (transfer: InstructedTransfer) => boolean): bigint =>
  transfers.reduce((sum, transfer) => (counts(transfer) ? sum + transfer.amount : sum), 0n)
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The needed guards that those in the transaction do not hold: one is missing, allows more, or names another control. */
export const missingGuards = (needed: readonly Guard[], held: readonly Guard[]): Guard[] =>
  needed.filter((guard) => !held.some((each) => holds(each, guard)))

/** How far the transaction itself holds what it needs; `whole` also if it needs nothing. */
export function guardedExtent({ guards: { needed, held } }: Pick<Movement, 'guards'>): 'whole' | 'part' | 'none' {
  const missing = missingGuards(needed, held).length
  return missing === 0 ? 'whole' : missing < needed.length ? 'part' : 'none'
}

function holds(held: Guard, needed: Guard): boolean {
  if (held.kind !== needed.kind || held.address !== needed.address) return false
  if (held.kind === 'wallet' || needed.kind === 'wallet') return isAtLeast(held.change, needed.change)
  const isSame =
    held.owner === needed.owner &&
    held.mint === needed.mint &&
    held.delegate === needed.delegate &&
    held.delegated <= needed.delegated &&
    held.closeAuthority === needed.closeAuthority &&
    held.isFrozen === needed.isFrozen
  return isSame && held.least >= needed.least && isAtLeast(held.change, needed.change)
}

const isAtLeast = (held: bigint | null, needed: bigint | null): boolean =>
  needed === null || (held !== null && held >= needed)
