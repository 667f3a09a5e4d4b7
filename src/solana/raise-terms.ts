/** The terms of a new raise, as they follow from the fields of its request. */
import { dividedUp, leastAmount, PRICE_ONE, priceOfText, type RaiseDecimals, tokensAt } from './raise-amounts.ts'
import type { PoolPlan } from './raise-pool.ts'
import type { RaiseMode, RaiseTerms, UnsoldAction } from './raises.ts'

const WHOLE_BPS = 10_000
/** With a plan of a pool, nobody gets tokens for this time after the end. */
const POOL_LOCK_SECONDS = 3_600

/** Fields of which one may be left out. */
type Some<T> = { [K in keyof T]?: T[K] | undefined }

type AskedRound = Some<{ supply: string; buyer_min: string; buyer_max: string; deposit_fee_bps: number }>

/** The fields of a request: amounts in digits, times as ISO text. */
export type AskedRaise = { sale_mode: RaiseMode; min: string; max: string; ends_at: string } & AskedRound &
  Some<{
    price: string
    starts_at: string
    release_bps: number
    release_at: string
    lock_seconds: number
    vesting_seconds: number
    unsold: UnsoldAction
    early_end: boolean
    withdrawable: boolean
    allowlist: boolean
    rounds: readonly AskedRound[]
    pool: PoolPlan
  }>

const secondsOf = (time: string): bigint => BigInt(Math.floor(Date.parse(time) / 1_000))

/** Terms that nobody can fulfil are not refused here; a price out of range is null. `now` is the chain's clock in Unix seconds. */
export function raiseTerms(asked: AskedRaise, { now, decimals }: { now: bigint; decimals: RaiseDecimals }): RaiseTerms {
  const { sale_mode: mode, unsold = 'return', early_end: earlyEnd = true, withdrawable = false } = asked
  const [minimum, maximum] = [BigInt(asked.min), BigInt(asked.max)]
  const price = mode === 'fixed_price' ? fixedPrice(asked, maximum, decimals) : null
  const rounds = (asked.rounds ?? [asked]).map((round) => ({
    supply: BigInt(round.supply ?? (price === null ? 0n : tokensAt(price, maximum))),
    buyerMin: BigInt(round.buyer_min ?? leastAmount(price, 1n)),
    buyerMax: BigInt(round.buyer_max ?? maximum),
    feeBps: round.deposit_fee_bps ?? 0,
  }))
  const asksFor = asked.starts_at === undefined ? now : secondsOf(asked.starts_at)
  return {
    ...{ mode, minimum, maximum, price, rounds, unsold, allowlist: asked.allowlist ? 'merkle' : 'none' },
    supply: rounds.reduce((sum, { supply }) => sum + supply, 0n),
    withdrawable: mode === 'fixed_price' ? withdrawable : mode === 'pro_rata',
    // Pro rata, the maximum ends nothing.
    earlyEnd: mode !== 'pro_rata' && earlyEnd,
    // The program takes a start in the past as now.
    startsAt: asksFor > now ? asksFor : now,
    endsAt: secondsOf(asked.ends_at),
    ...releaseOf(asked),
  }
}

function fixedPrice({ price, supply, rounds = [{ supply }] }: AskedRaise, maximum: bigint, decimals: RaiseDecimals) {
  if (price !== undefined) return priceOfText(price, decimals)
  const total = rounds.reduce((sum, round) => sum + BigInt(round.supply ?? 0), 0n)
  return total === 0n ? null : dividedUp(maximum * PRICE_ONE, total)
}

function releaseOf({ pool, lock_seconds, vesting_seconds = 0, release_bps, release_at, ends_at }: AskedRaise) {
  const lock = lock_seconds ?? (pool?.when === 'after' ? POOL_LOCK_SECONDS : 0)
  const releaseBps = release_bps ?? (lock + vesting_seconds > 0 ? 0 : WHOLE_BPS)
  const releaseAt = releaseBps === 0 ? 0n : secondsOf(release_at ?? ends_at)
  return { releaseBps, releaseAt, lockSeconds: BigInt(lock), vestingSeconds: BigInt(vesting_seconds) }
}
