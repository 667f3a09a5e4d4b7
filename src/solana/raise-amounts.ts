/**
 * The arithmetic of a raise, to the unit as the program does it: prices, deposits, refunds, releases, and what the
 * creator gets. Amounts are raw units, times Unix seconds. Browsers load it, too.
 */
import { ratioText } from './amounts.ts'
import { type LiveRound, type Raise, type RaiseEscrow, raiseStateAt } from './raises.ts'
import { vestedAt } from './unlock-schedule.ts'

// Prices.

/** Prices of the program are quote units for a token unit, times this. */
export const PRICE_ONE = 1n << 64n
const U128 = 1n << 128n
const WHOLE = 10_000n
/** Rounds up. */
export const dividedUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

/** Decimals of the token and of what is paid for it. */
export interface RaiseDecimals {
  token: number
  quote: number
}

/**
 * The program's price of decimal text: whole quote for a whole token. It is rounded up, because a price that is rounded
 * down may sell a unit more than there is (6007). Null for text that is no positive number, and for one out of range.
 */
export function priceOfText(text: string, decimals: RaiseDecimals): bigint | null {
  const [, whole = '', fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  if (whole === '') return null
  const above = BigInt(whole + fraction) * PRICE_ONE * 10n ** BigInt(decimals.quote)
  const price = dividedUp(above, 10n ** BigInt(fraction.length + decimals.token))
  return price > 0n && price < U128 ? price : null
}

/** Digits of a price that are shown. */
const DIGITS = 12

/** Decimal text of `quote` units for `token` units, as whole quote for a whole token, to 12 digits. */
export function priceText(quote: bigint, token: bigint, decimals: RaiseDecimals): string {
  const [above, below] = [quote * 10n ** BigInt(decimals.token), token * 10n ** BigInt(decimals.quote)]
  const whole = below > 0n ? String(above / below).length : 0
  return ratioText(above, below, Math.max(DIGITS, whole))
}

/** What a round costs now: whole quote for a whole token, as decimal text; null before the first deposit sets it. */
export function roundPrice(
  raise: Pick<Raise, 'price' | 'rounds'>,
  round: number,
  decimals: RaiseDecimals,
): string | null {
  if (raise.price !== null) return priceText(raise.price, PRICE_ONE, decimals)
  const of = roundOf(raise, round)
  return of.deposited === 0n ? null : priceText(of.deposited, of.supply, decimals)
}

/** Throws RangeError for a round that the raise does not have. */
export function roundOf(raise: Pick<Raise, 'rounds'>, round: number): LiveRound {
  const of = raise.rounds[round]
  if (of === undefined) throw new RangeError(`the raise has no round ${round}`)
  return of
}

/** Tokens that an amount buys at a fixed price. */
export const tokensAt = (price: bigint, quote: bigint): bigint => (quote * PRICE_ONE) / price
/** What these tokens cost at a fixed price. */
export const costOf = (price: bigint, tokens: bigint): bigint => dividedUp(tokens * price, PRICE_ONE)

/** The part of an amount that a deposit or a withdrawal moves: at a fixed price, what whole units of the token cost. */
export const wholePart = (price: bigint | null, quote: bigint): bigint =>
  price === null ? quote : costOf(price, tokensAt(price, quote))

/** The least amount of which at least `need` is moved, which is at least 1. */
export function leastAmount(price: bigint | null, need: bigint): bigint {
  return price === null ? need : costOf(price, tokensAt(price, need - 1n) + 1n)
}

/**
 * Tokens that a round sells for these deposits in it. Without a fixed price any deposit takes all. At a fixed price the
 * rounds share their tokens: the program sells more in one than its supply, and has enough of them for the maximum.
 */
export function soldFor(price: bigint | null, { supply, deposited }: Pick<LiveRound, 'supply' | 'deposited'>): bigint {
  if (deposited === 0n) return 0n
  return price === null ? supply : tokensAt(price, deposited)
}

/** Fee on top of a deposit. It is rounded up. */
export const feeOnTop = (amount: bigint, bps: number): bigint => dividedUp(amount * WHOLE, WHOLE - BigInt(bps)) - amount

/** What a buyer has in a round: the part of an escrow that counts. */
type OwnDeposit = Pick<RaiseEscrow, 'round' | 'deposited' | 'fees' | 'claimed' | 'isRefunded'>
type Sale = Pick<Raise, 'price' | 'rounds'>

/** Tokens of a deposit and of `more`, if nobody else deposits or withdraws until the end. */
export function tokensOf(raise: Sale, own: Pick<OwnDeposit, 'round' | 'deposited'>, more = 0n): bigint {
  const of = roundOf(raise, own.round)
  const deposited = of.deposited + more
  return partOf(soldFor(raise.price, { ...of, deposited }), own.deposited + more, deposited)
}

// Deposits and withdrawals.

/** Why nothing, or no more, can be deposited. */
export type DepositBound =
  | 'not_started'
  | 'ended'
  /** The buyer has deposited as much as one may. */
  | 'buyer_maximum'
  /** The maximum of the raise is reached. */
  | 'raise_full'
  /** What is left is less than the least that a buyer may deposit, so nobody can fill it (6019). */
  | 'gap_below_minimum'

interface DepositLimits {
  /** Least and most that can be deposited now, without fee; 0 if nothing can be. */
  least: bigint
  most: bigint
  /** What sets `most`. */
  bound: DepositBound
}

/**
 * What a wallet can deposit now in a round. `deposited` is what it has there. `cap` is its own: that of its escrow,
 * otherwise of its line in the allowlist, otherwise the round's. Of an amount above the most, the program takes the
 * most, without an error.
 */
export function depositLimits(
  raise: Raise,
  { round, deposited = 0n, cap }: { round: number; deposited?: bigint; cap?: bigint | undefined },
  at: bigint,
): DepositLimits {
  const of = roundOf(raise, round)
  const none = (bound: DepositBound): DepositLimits => ({ least: 0n, most: 0n, bound })
  const state = raiseStateAt(raise, at)
  if (state !== 'ongoing') return none(state === 'not_started' ? state : 'ended')
  const rooms: [DepositBound, bigint][] = [['buyer_maximum', (cap ?? of.buyerMax) - deposited]]
  if (raise.mode !== 'pro_rata') rooms.push(['raise_full', raise.maximum - raise.deposited])
  const [bound, room] = rooms.reduce((least, each) => (each[1] < least[1] ? each : least))
  if (room <= 0n) return none(bound)
  const most = wholePart(raise.price, room)
  const least = leastAmount(raise.price, of.buyerMin > deposited ? of.buyerMin - deposited : 1n)
  if (least > most) return none(bound === 'buyer_maximum' ? bound : 'gap_below_minimum')
  return { least, most, bound }
}

/**
 * What a withdrawal can take now: everything, or a part of which the rest is at least the buyer's least. The fee stays,
 * and is paid again with a new deposit.
 */
export function withdrawableNow(
  raise: Raise,
  own: Pick<OwnDeposit, 'round' | 'deposited'>,
  at: bigint,
): { all: bigint; mostOfPart: bigint } {
  if (!raise.withdrawable || raiseStateAt(raise, at) !== 'ongoing') return { all: 0n, mostOfPart: 0n }
  const { buyerMin } = roundOf(raise, own.round)
  const part = own.deposited > buyerMin ? own.deposited - buyerMin : 0n
  return { all: own.deposited, mostOfPart: wholePart(raise.price, part) }
}

/** What a deposit of `amount` in a round moves, the fee on top of it, and both. */
export function paymentOf(raise: Sale, round: number, amount: bigint): Record<'moved' | 'fee' | 'total', bigint> {
  const moved = wholePart(raise.price, amount)
  const fee = feeOnTop(moved, roundOf(raise, round).feeBps)
  return { moved, fee, total: moved + fee }
}

// After the end.

/** Quote of a deposit, and the fee on it. */
interface Refund {
  deposit: bigint
  fee: bigint
}
const NOTHING: Refund = { deposit: 0n, fee: 0n }

const partOf = (amount: bigint, own: bigint, all: bigint): bigint => (all === 0n ? 0n : (amount * own) / all)

/** What a round of a pro rata raise returns: its part of what exceeds the maximum, and the fee on it. */
function refundOfRound(raise: Pick<Raise, 'mode' | 'deposited' | 'maximum'>, of: LiveRound): Refund {
  const excess = raise.mode === 'pro_rata' ? raise.deposited - raise.maximum : 0n
  if (excess <= 0n) return NOTHING
  const deposit = partOf(excess, of.deposited, raise.deposited)
  return { deposit, fee: partOf(of.fees, deposit, of.deposited) }
}

/** What a refund pays now: all with its fee if the raise failed, or the part beyond the maximum of a pro rata raise. */
export function refundableNow(raise: Raise, own: OwnDeposit, at: bigint): Refund {
  const state = raiseStateAt(raise, at)
  if (own.isRefunded) return NOTHING
  if (state === 'failed') return { deposit: own.deposited, fee: own.fees }
  if (state !== 'completed') return NOTHING
  const of = roundOf(raise, own.round)
  const { deposit, fee } = refundOfRound(raise, of)
  return { deposit: partOf(deposit, own.deposited, of.deposited), fee: partOf(fee, own.fees, of.fees) }
}

/** Tokens that a buyer gets within a time, evenly; at once if `from` is `until`. */
export interface Release {
  from: bigint
  until: bigint
  tokens: bigint
}

/** What a round sells: the part that is released at once, and the rest. */
function soldParts(raise: Raise, round: number): Release[] {
  const sold = soldFor(raise.price, roundOf(raise, round))
  const atOnce = (sold * BigInt(raise.releaseBps)) / WHOLE
  return [
    { from: raise.releaseAt, until: raise.releaseAt, tokens: atOnce },
    { from: raise.vestingStartsAt, until: raise.vestingEndsAt, tokens: sold - atOnce },
  ]
}

/** When the tokens of a deposit are released, in order. Each part is rounded down, so they may lack a unit of the whole. */
export const releasesOf = (raise: Raise, own: Pick<OwnDeposit, 'round' | 'deposited'>): Release[] =>
  soldParts(raise, own.round)
    .map((part) => ({ ...part, tokens: shareOf(raise, own, part.tokens) }))
    .filter(({ tokens }) => tokens > 0n)
    .sort((a, b) => Number(a.from - b.from))

/** The part of a round's tokens that falls to a deposit in it. */
const shareOf = (raise: Sale, own: Pick<OwnDeposit, 'round' | 'deposited'>, tokens: bigint): bigint =>
  partOf(tokens, own.deposited, roundOf(raise, own.round).deposited)

/** Tokens of a deposit that a completed raise has released at a time, with those that were claimed. */
const releasedAt = (raise: Raise, own: OwnDeposit, at: bigint): bigint =>
  soldParts(raise, own.round).reduce((sum, { from, until, tokens }) => {
    const released = vestedAt({ startsAt: from, endsAt: until }, tokens, at)
    return sum + shareOf(raise, own, released)
  }, 0n)

export interface Claimable {
  /** Tokens of the deposit in the end. Before the end of the raise, what they would be if it ended as it is. */
  total: bigint
  /** What a claim pays now. */
  now: bigint
  /** What comes next; null if nothing does, and if the raise failed. */
  next: Release | null
}

export function claimableNow(raise: Raise, own: OwnDeposit, at: bigint): Claimable {
  const state = raiseStateAt(raise, at)
  if (state === 'failed') return { total: 0n, now: 0n, next: null }
  const releases = releasesOf(raise, own)
  const total = releases.reduce((sum, { tokens }) => sum + tokens, 0n)
  const now = state === 'completed' ? releasedAt(raise, own, at) - own.claimed : 0n
  return { total, now, next: releases.find(({ until }) => until > at) ?? null }
}

/** A wallet in a round: its escrow, and its cap if that is not of the escrow, as in `depositLimits`. */
interface BuyerPlace {
  round: number
  escrow: RaiseEscrow | null
  cap?: bigint | undefined
}

/** What a buyer has, and can do now in a round. */
export function buyerCan(raise: Raise, { round, escrow, cap = escrow?.cap }: BuyerPlace, at: bigint) {
  const own = escrow ?? { round, deposited: 0n, fees: 0n, claimed: 0n, isRefunded: false }
  const { deposit, fee } = refundableNow(raise, own, at)
  return {
    own,
    deposit: depositLimits(raise, { round, deposited: own.deposited, cap }, at),
    withdraw: withdrawableNow(raise, own, at),
    claim: claimableNow(raise, own, at),
    /** With the fee. */
    refund: deposit + fee,
  }
}

/** What the creator gets in the end, whether or not it was taken. */
interface CreatorGains {
  /** Quote that is raised. */
  raised: bigint
  /** Quote of deposit fees, without those that refunds return. */
  fees: bigint
  /** Tokens that come back because the raise failed. */
  returned: bigint
  /** Tokens that were not sold, which come back or are burnt. */
  unsold: bigint
}

/** What the creator gets if the raise ends with the present deposits. */
export function creatorGains(
  raise: Pick<Raise, 'deposited' | 'minimum' | 'maximum' | 'fees' | 'supply' | 'mode'> & Sale,
): CreatorGains {
  if (raise.deposited < raise.minimum) return { raised: 0n, fees: 0n, returned: raise.supply, unsold: 0n }
  const sum = (of: (round: LiveRound) => bigint) => raise.rounds.reduce((all, round) => all + of(round), 0n)
  return {
    raised: raise.deposited < raise.maximum ? raise.deposited : raise.maximum,
    fees: raise.fees - sum((round) => refundOfRound(raise, round).fee),
    returned: 0n,
    unsold: raise.supply - sum((round) => soldFor(raise.price, round)),
  }
}

/** What the creator, and for unsold tokens anyone, can take now; all 0 before the end. */
export function creatorDue(raise: Raise, at: bigint): CreatorGains {
  const hasEnded = at >= raise.endsAt
  const { raised, fees, returned, unsold } = creatorGains(raise)
  const due = (amount: bigint, isTaken: boolean) => (hasEnded && !isTaken ? amount : 0n)
  return {
    raised: due(raised, raise.creatorWithdrawn),
    fees: due(fees, raise.feesCollected),
    returned: due(returned, raise.creatorWithdrawn),
    unsold: due(unsold, raise.unsoldDone),
  }
}

/** The raise as it would be with these deposits in its rounds, for previews. */
export function withDeposits(raise: Raise, deposits: readonly bigint[]): Raise {
  const rounds = raise.rounds.map((round, i) => {
    const deposited = deposits[i] ?? 0n
    return { ...round, deposited, fees: feeOnTop(deposited, round.feeBps) }
  })
  const sum = (of: (round: LiveRound) => bigint) => rounds.reduce((all, round) => all + of(round), 0n)
  return { ...raise, rounds, deposited: sum((round) => round.deposited), fees: sum((round) => round.fees) }
}
