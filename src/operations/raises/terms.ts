/** Checks the terms of a new raise: by the program's rules, and against what it permits although somebody would lose by it. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { leastAmount, priceText, type RaiseDecimals, tokensAt, wholePart } from '../../chain/programs/presale/index.ts'
import { DAY_SECONDS } from '../../platform/timing.ts'
import { groupedDecimalOf, tokenText } from '../../solana/amounts.ts'
import { isoSeconds } from '../../solana/lock-schedule.ts'
import { planFault } from '../../solana/raise-pool.ts'
import { raiseTerms } from '../../solana/raise-terms.ts'
import type { RaiseTerms } from '../../solana/raises.ts'
import { MAX_U64, MAX_U128 } from '../../solana/u64.ts'
import { fault } from '../locks/checks.ts'
import { fieldFault, refuseFirst, saidOf } from '../sentences.ts'

export type CreateInput = Input<Api['raises']['create']>

const WHOLE_BPS = 10_000
const LEAST_SECONDS = 60n
const MOST_SECONDS = 30n * BigInt(DAY_SECONDS)
/** Lock and vesting together are shorter. */
const TEN_YEARS = 3_650n * BigInt(DAY_SECONDS)
/** A settlement needs some minutes, those of approvers more. */
const SHORT_LOCK_SECONDS = 600n

/** `now` is the chain's clock in Unix seconds. Throws bad_request that names the field and the way out. */
export function checkedTerms(input: CreateInput, at: { now: bigint; decimals: RaiseDecimals }): RaiseTerms {
  const terms = raiseTerms(input, at)
  const { mode, minimum, maximum } = terms
  refuseFirst(
    minimum > maximum && `min: ${minimum} is more than the ${maximum} of max`,
    mode === 'fixed_price' &&
      minimum === maximum &&
      'min: at a fixed price it must be less than max, because a rest that buys no whole unit could keep the raise from its minimum',
    input.rounds !== undefined &&
      !input.allowlist &&
      'rounds: several rounds need an allowlist, which says who is in which: send allowlist: true',
  )
  requireSale(input, terms)
  requireRounds(input, terms)
  requireFillable(terms)
  requireTimes(terms, at.now)
  requirePlan(input, terms)
  requireRelease(input, terms)
  requireWithdrawable(input)
  return terms
}

/** The price and the tokens for sale. */
function requireSale(
  { price: text, supply, rounds }: CreateInput,
  { mode, price, maximum, ...terms }: RaiseTerms,
): void {
  const isFixed = mode === 'fixed_price'
  refuseFirst(
    rounds !== undefined && supply !== undefined && 'supply: with rounds it is the sum of theirs: leave it out',
    rounds !== undefined &&
      terms.supply > MAX_U64 &&
      `rounds: together they sell ${terms.supply}, more than a vault can hold (${MAX_U64})`,
    !isFixed &&
      text !== undefined &&
      'price: only a fixed_price raise has one: leave it out, because here the deposits make the price',
    !isFixed && terms.supply === 0n && 'supply: send how many raw units of the token are for sale',
    isFixed &&
      rounds === undefined &&
      (text === undefined) === (supply === undefined) &&
      'price: send either price or supply: with max, each follows from the other',
    isFixed && (price === null || price > MAX_U128) && `price: ${text} is out of the range of the program`,
  )
  if (price === null) return
  const needed = tokensAt(price, maximum)
  refuseFirst(
    needed === 0n && `max: ${maximum} buys less than one raw unit of the token at this price`,
    needed > MAX_U64 && `price: ${maximum} would buy ${needed} raw units, more than a vault can hold`,
  )
  if (terms.supply >= needed) return
  throw fieldFault(
    `rounds: at this price max buys ${needed} raw units, and the rounds have ${terms.supply}: raise their supply, or lower max`,
    { needed: String(needed) },
  )
}

/** The program sets the limits of buyers itself if there is an allowlist, whose lines have caps. */
function requireRounds(input: CreateInput, { price, maximum, rounds }: RaiseTerms): void {
  const beside = (['buyer_min', 'buyer_max'] as const).find((name) => input[name] !== undefined)
  const moved = beside ?? (input.deposit_fee_bps > 0 ? 'deposit_fee_bps' : undefined)
  refuseFirst(
    input.rounds !== undefined && moved !== undefined && `${moved}: each round has its own: send it in rounds`,
  )
  const least = leastAmount(price, 1n)
  for (const [i, { buyerMin, buyerMax }] of rounds.entries()) {
    const [min, max] = ['buyer_min', 'buyer_max'].map((name) => (input.rounds ? `rounds.${i}.${name}` : name))
    const demanded = (field: string | undefined, must: bigint) =>
      `${field}: with an allowlist the program demands ${must}: leave it out, and put each wallet's cap into the list`
    refuseFirst(
      input.allowlist && buyerMin !== least && demanded(min, least),
      input.allowlist && buyerMax !== maximum && demanded(max, maximum),
      buyerMin < least && `${min}: ${buyerMin} buys less than one raw unit of the token; the least is ${least}`,
      buyerMax > maximum && `${max}: ${buyerMax} is more than the ${maximum} of max`,
      buyerMin > buyerMax && `${min}: ${buyerMin} is more than the ${buyerMax} of buyer_max`,
    )
  }
}

/** A rest below the least of a buyer stays, unless somebody who has deposited may deposit more (6019). */
function requireFillable({ mode, price, minimum, maximum, rounds }: RaiseTerms): void {
  if (mode === 'pro_rata') return
  const entry = rounds.reduce((most, { buyerMin }) => {
    const least = leastAmount(price, buyerMin)
    return least > most ? least : most
  }, 0n)
  const buyers = maximum / entry
  const most = rounds.reduce((most, { buyerMax }) => (buyerMax > most ? buyerMax : most), 0n)
  const reached = buyers * wholePart(price, most)
  const least = leastAmount(price, 1n)
  if (reached + least <= maximum) {
    throw fieldFault(
      `buyer_max: max can never be reached: with ${entry} to ${most} a buyer there is room for at most ${buyers}, who pay ${reached} of ${maximum}: lower buyer_min, raise buyer_max, or send ${reached} as max`,
      { reachable: String(reached) },
    )
  }
  const certain = maximum - entry + 1n
  if (minimum <= certain) return
  throw fieldFault(
    `min: a rest below ${entry}, the least of a buyer, may stay, so that deposits end at ${certain} and the raise fails: send at most ${certain} as min, or lower buyer_min`,
    { most: String(certain) },
  )
}

function requireTimes({ startsAt, endsAt }: RaiseTerms, now: bigint): void {
  const clock = `; the chain's clock shows ${isoSeconds(now)}`
  const lasts = endsAt - startsAt
  refuseFirst(
    startsAt - now > MOST_SECONDS && `starts_at: must be at most 30 days ahead${clock}`,
    (lasts < LEAST_SECONDS || lasts > MOST_SECONDS) &&
      `ends_at: must be from 60 seconds to 30 days after the start, ${isoSeconds(startsAt)}${clock}`,
  )
}

/** Whoever claims a token before the pool is open can open the only pool of the pair, at any price. */
function requirePlan({ pool }: CreateInput, terms: RaiseTerms): void {
  if (pool === undefined) return
  const found = planFault(pool, terms)
  if (found !== null) {
    const isEither = pool.when === 'after' && terms.mode === 'fixed_price' && pool.price === 'raise'
    const way = pool.when === 'before_end' ? '' : `: leave it out${isEither ? ', or send pool.when: before_end' : ''}`
    throw fault(found.field, `${found.field} ${found.why}${way}`)
  }
  refuseFirst(
    pool.price === 'reserve' &&
      pool.price_bps !== WHOLE_BPS &&
      'pool.price_bps: with price: reserve the price follows from the reserve: leave it out',
  )
}

function requireRelease({ release_at }: CreateInput, { endsAt, releaseBps, releaseAt, ...terms }: RaiseTerms): void {
  const later = terms.lockSeconds + terms.vestingSeconds
  const until = later === 0n ? '' : `, to the end of vesting, ${isoSeconds(endsAt + later)}`
  refuseFirst(
    later >= TEN_YEARS && 'vesting_seconds: with lock_seconds it must be less than ten years',
    releaseBps === WHOLE_BPS &&
      later > 0n &&
      'release_bps: all is released at once, so nothing is left to lock or to vest: lower it, or leave lock_seconds and vesting_seconds out',
    releaseBps < WHOLE_BPS &&
      later === 0n &&
      'release_bps: the rest must be locked or vest: send lock_seconds or vesting_seconds too',
    release_at !== undefined &&
      releaseBps === 0 &&
      'release_at: nothing is released at once: send release_bps too, or leave it out',
    releaseBps > 0 &&
      (releaseAt < endsAt || releaseAt > endsAt + later) &&
      `release_at: must be from the end of the raise, ${isoSeconds(endsAt)}${until}`,
  )
}

/** Only a fixed price leaves the choice. */
function requireWithdrawable({ sale_mode: mode, withdrawable }: CreateInput): void {
  const must = mode === 'pro_rata'
  const how = must ? 'can always withdraw before the end' : 'can never withdraw'
  refuseFirst(
    mode !== 'fixed_price' &&
      withdrawable !== undefined &&
      withdrawable !== must &&
      `withdrawable: buyers of a ${mode} raise ${how}: leave it out`,
  )
}

/** What is accepted but should be known before anybody signs. */
export function termWarnings(
  { mode, price, minimum, maximum, rounds, supply, withdrawable, ...raise }: RaiseTerms,
  { input, decimals, quoteMint }: { input: CreateInput; decimals: RaiseDecimals; quoteMint: string },
): string[] {
  const quoteText = (raw: bigint) => tokenText(quoteMint, raw, decimals.quote)
  const isFixed = price !== null
  const [least, most] = [minimum, maximum].map((sum) => priceText(sum, supply, decimals))
  const firstLeast = rounds[0]?.buyerMin ?? 0n
  const atOnce = raise.releaseAt - raise.endsAt
  const left = raise.releaseBps > 0 && atOnce < raise.lockSeconds ? atOnce : raise.lockSeconds
  return saidOf([
    !isFixed &&
      minimum * 10n < maximum &&
      `Any deposits buy all the tokens: with ${quoteText(minimum)}, the minimum, all ${groupedDecimalOf(supply, decimals.token)} are sold for ${least} each, and with the maximum for ${most}. Only a higher min keeps the price up`,
    !isFixed &&
      rounds.length > 1 &&
      'Each round sells all of its tokens for any deposit in it, also if min is only reached by the others',
    isFixed &&
      rounds.length > 1 &&
      'At a fixed price the rounds share their tokens: one may sell those of another, and only the caps of the allowlist limit a round',
    isFixed &&
      withdrawable &&
      'One buyer could fill the raise, withdraw a second before the end, and let it fail: leave withdrawable out to prevent it',
    mode !== 'pro_rata' &&
      firstLeast > leastAmount(price, 1n) &&
      `A rest below ${quoteText(leastAmount(price, firstLeast))} can only be filled by buyers who have deposited and may deposit more`,
    withdrawable &&
      rounds.some(({ feeBps }) => feeBps > 0) &&
      'The deposit fee is not returned by a withdrawal, and is paid again with a new deposit',
    input.pool === undefined &&
      raise.lockSeconds === 0n &&
      'Whoever claims first can open the pool of the token, at any price: send pool, or lock_seconds, to open it yourself',
    input.pool?.when === 'after' &&
      left < SHORT_LOCK_SECONDS &&
      `Only ${left} seconds are left for the pool: after them buyers can claim, and open it at any price`,
  ])
}
