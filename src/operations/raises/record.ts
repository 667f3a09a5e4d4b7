/** What the API answers of a raise, and what its row keeps, both from the account on chain. */
import {
  creatorDue,
  PRICE_ONE,
  priceText,
  type Raise,
  type RaiseDecimals,
  raiseStateAt,
} from '../../chain/programs/presale/index.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/timing.ts'
import { isoSeconds, LAST_SECOND } from '../../solana/lock-schedule.ts'
import type { RaiseRow } from '../../store/resources/raises.ts'

/** Other tools can write times beyond the calendar. */
const timeOf = (seconds: bigint): string => isoSeconds(seconds < LAST_SECOND ? seconds : LAST_SECOND) ?? ''

export const termsRecord = (raise: Raise, decimals: RaiseDecimals) => ({
  mint: raise.mint,
  quote_mint: raise.quoteMint,
  creator: raise.creator,
  sale_mode: raise.mode,
  price: presentPrice(raise, decimals),
  min: String(raise.minimum),
  max: String(raise.maximum),
  supply: String(raise.supply),
  starts_at: timeOf(raise.startsAt),
  ends_at: timeOf(raise.endsAt),
  release_bps: raise.releaseBps,
  release_at: raise.releaseBps === 0 ? null : timeOf(raise.releaseAt),
  vesting_starts_at: timeOf(raise.vestingStartsAt),
  vesting_ends_at: timeOf(raise.vestingEndsAt),
  unsold: raise.unsold,
  early_end: raise.earlyEnd,
  withdrawable: raise.withdrawable,
  allowlist: raise.allowlist !== 'none',
  rounds: raise.rounds.map((round, i) => ({
    round: i + 1,
    supply: String(round.supply),
    buyer_min: String(round.buyerMin),
    buyer_max: String(round.buyerMax),
    deposit_fee_bps: round.feeBps,
    deposited: String(round.deposited),
    buyers: String(round.escrows),
  })),
})

/** Fixed, or by all deposits so far; null before the first. Each round of the other modes has its own. */
function presentPrice({ price, deposited, maximum, supply }: Raise, decimals: RaiseDecimals): string | null {
  if (price !== null) return priceText(price, PRICE_ONE, decimals)
  if (deposited === 0n) return null
  return priceText(deposited < maximum ? deposited : maximum, supply, decimals)
}

/** Deposits, and the early end of a full raise, need no transaction of ours. */
const ONGOING_LOOK_MS = MINUTE_MS
/** The clock of a test chain can be moved to the start at any time. */
const BEFORE_START_MS = 5 * MINUTE_MS
/** The longest time between two looks. */
export const LONGEST_RAISE_WAIT_MS = DAY_MS

/**
 * What the row of a raise keeps of its account, and when to look again; null once nothing is left that the creator can
 * take, and the planned pool is open. `chainSeconds` is the chain's clock, `now` that of this machine in milliseconds.
 */
export function rowStateOf(
  raise: Raise,
  at: { chainSeconds: number; now: number },
  row: Pick<RaiseRow, 'pool_json' | 'pool_address'>,
) {
  const state = raiseStateAt(raise, BigInt(at.chainSeconds))
  const isOpen = state === 'failed' || row.pool_json === null || row.pool_address !== null
  const isOver = state === 'completed' || state === 'failed'
  const left = Object.values(creatorDue(raise, BigInt(at.chainSeconds))).some((amount) => amount > 0n)
  return {
    state,
    deposited: String(raise.deposited),
    ends_at: Number(raise.endsAt) * 1_000,
    withdrawn: raise.creatorWithdrawn ? (1 as const) : (0 as const),
    next_check_at:
      isOpen && isOver && !left ? null : at.now + Math.floor(waitOf(raise, state, at.chainSeconds * 1_000)),
  }
}

/** The next look for a raise that was built and is not on chain; null once its end has come, because it never will be. */
export function unseenLook(
  row: Pick<RaiseRow, 'ends_at' | 'created_at'>,
  at: { chainSeconds: number; now: number },
): number | null {
  if (at.chainSeconds * 1_000 >= row.ends_at) return null
  return at.now + Math.floor(Math.min(Math.max((at.now - row.created_at) / 4, MINUTE_MS), HOUR_MS))
}

function waitOf({ startsAt, endsAt }: Raise, state: RaiseRow['state'], at: number): number {
  const until = (seconds: bigint) => Number(seconds) * 1_000 - at
  if (state === 'not_started') return Math.min(until(startsAt), BEFORE_START_MS)
  if (state === 'ongoing') return Math.min(until(endsAt), ONGOING_LOOK_MS)
  // What the creator has not taken for long it seldom takes within the next minute.
  return Math.min(Math.max((at - Number(endsAt) * 1_000) / 4, MINUTE_MS), LONGEST_RAISE_WAIT_MS)
}
