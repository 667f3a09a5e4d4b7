/** What is due for the creator of a raise, by one fact of the chain after another. */
import { describe, expect, it } from 'vitest'
import { dueActs, type PairPool, type SettlementState } from '../../src/solana/raise-due.ts'
import { FULL_RANGE, type PoolPlan, type RaisePool, raisedSum, raisePool, seedOf } from '../../src/solana/raise-pool.ts'
import type { Raise } from '../../src/solana/raises.ts'
import { someAddress } from '../support/wallets.ts'

const SOL = 10n ** 9n
const [CREATOR, STRANGER] = [someAddress(), someAddress()]
const [END, SUPPLY] = [3_600n, 5_000n * SOL]
const PLAN: PoolPlan = {
  ...{ quote_bps: 5_000, reserve: String(SUPPLY), price: 'raise', price_bps: 10_000 },
  ...{ fee_bps: 100, locked_bps: 10_000, when: 'after', opens_after_seconds: 600 },
}
const ROUND = { supply: SUPPLY, buyerMin: 1n, buyerMax: 5n * SOL, feeBps: 0, escrows: 1n, claimed: 0n, refunded: 0n }
const RAISE: Raise = {
  ...{ address: someAddress(), creator: CREATOR, base: someAddress(), mint: someAddress(), quoteMint: someAddress() },
  ...{ baseVault: someAddress(), quoteVault: someAddress(), tokenProgram: 'spl', quoteTokenProgram: 'spl' },
  ...{ mode: 'fixed_price', allowlist: 'none', maximum: 5n * SOL, minimum: SOL, startsAt: 0n, endsAt: END },
  ...{ unsold: 'return', earlyEnd: true, releaseBps: 0, releaseAt: END, lockSeconds: 3_600n, vestingSeconds: 0n },
  ...{ supply: SUPPLY, deposited: 2n * SOL, fees: 7n, escrows: 1n, claimed: 0n, refunded: 0n, createdAt: 0n },
  ...{ vestingStartsAt: 7_200n, vestingEndsAt: 7_200n, price: (1n << 64n) / 1_000n + 1n, withdrawable: false },
  ...{ feesCollected: false, creatorWithdrawn: false, unsoldDone: false },
  rounds: [{ ...ROUND, deposited: 2n * SOL, fees: 7n }],
}
const STATE: SettlementState = {
  ...{ raise: RAISE, plan: PLAN, transferFee: null, pool: null, tokens: SUPPLY, closesPrice: false, at: END },
}

function opened(pool: RaisePool | string): RaisePool {
  if (typeof pool === 'string') throw new Error(pool)
  return pool
}
const WHOLE = opened(raisePool(PLAN, raisedSum(RAISE)))
/** The planned pool, as it is once all is in it. */
const OPEN: PairPool = {
  ...{ address: someAddress(), creator: CREATOR, firstPrice: WHOLE.sqrtPrice, price: WHOLE.sqrtPrice },
  ...{ range: FULL_RANGE, fee: 10_000_000n, feeMode: 1, activationType: 1, locked: WHOLE.liquidity, position: null },
  ...{ activationPoint: END, isPlain: true },
}
const DONE = { raise: { ...RAISE, creatorWithdrawn: true, feesCollected: true, unsoldDone: true } }
const due = (more: Partial<SettlementState>) => dueActs({ ...STATE, ...more })

describe('what is due for the creator of a raise', () => {
  it('is everything after the end, in the order of doing it', () => {
    const { acts, pool, opensAt, blocked } = due({ closesPrice: true })
    expect(acts).toEqual(['withdraw', 'open_pool', 'lock_liquidity', 'collect_fee', 'unsold', 'close_price'])
    expect([pool, opensAt, blocked]).toEqual([WHOLE, null, null])
  })

  it.each([
    ['nothing before the end', { at: END - 1n }, []],
    ['no pool without a plan', { plan: null }, ['withdraw', 'collect_fee', 'unsold']],
    ['no lock without one', { plan: { ...PLAN, locked_bps: 0 } }, ['withdraw', 'open_pool', 'collect_fee', 'unsold']],
    ['the pool after a withdrawal alone', DONE, ['open_pool', 'lock_liquidity']],
    ['nothing once the pool is open', { ...DONE, pool: OPEN }, []],
    ['nothing while it is traded in', { ...DONE, pool: { ...OPEN, price: 9n * WHOLE.sqrtPrice } }, []],
  ] as const)('is %s', (_, more, acts) => {
    expect(due(more)).toMatchObject({ acts, blocked: null })
  })

  it('is the tokens alone if it failed', () => {
    const raise = { ...RAISE, minimum: 3n * SOL }
    expect(due({ raise })).toMatchObject({ acts: ['withdraw_tokens'], pool: null, blocked: null })
  })

  it.each([
    ['another creator', { creator: STRANGER }],
    ['another price', { firstPrice: WHOLE.sqrtPrice + 1n }],
    ['a higher range', { range: { ...FULL_RANGE, lowest: FULL_RANGE.lowest + 1n } }],
    ['a lower range', { range: { ...FULL_RANGE, highest: FULL_RANGE.highest - 1n } }],
    ['another fee', { fee: 10_100_000n }],
    ['fees in the token', { feeMode: 0 }],
    ['times in slots', { activationType: 0 }],
    ['another fee later, or a vault that may buy first', { isPlain: false }],
    ['trading much later', { activationPoint: END + 3_600n }],
  ] as const)('is no pool beside one with %s', (_, wrong) => {
    const { acts, blocked } = due({ ...DONE, pool: { ...OPEN, ...wrong } })
    expect(acts).toEqual([])
    expect(blocked).toContain('otherwise than planned')
    expect(blocked).toContain(OPEN.address)
  })

  it('is no pool without its tokens, of which it says how many', () => {
    const { acts, blocked } = due({ tokens: WHOLE.tokens - 1n })
    expect(acts).toEqual(['withdraw', 'collect_fee', 'unsold'])
    expect(blocked).toContain(`has ${WHOLE.tokens - 1n}`)
    expect(due({ tokens: WHOLE.tokens }).blocked).toBeNull()
  })
})

describe('a pool before the end', () => {
  const plan: PoolPlan = { ...PLAN, when: 'before_end' }
  const most = { raised: 5n * SOL, price: { quote: RAISE.price ?? 0n, tokens: 1n << 64n } }
  const seed = seedOf(opened(raisePool(plan, most)))
  const whole = opened(raisePool(plan, raisedSum(RAISE)))
  const held = { position: someAddress(), positionNftAccount: someAddress(), nftMint: someAddress() }
  const pool: PairPool = {
    ...OPEN,
    activationPoint: END + 600n,
    locked: 0n,
    position: { ...held, liquidity: seed.liquidity },
  }
  const taken = { ...DONE.raise }

  it('opens with little, and to trades ten minutes after the end', () => {
    expect(due({ plan, at: 0n })).toEqual({ acts: ['open_pool'], pool: seed, opensAt: END + 600n, blocked: null })
    const now = { ...plan, opens_after_seconds: 0 }
    expect(due({ plan: now, at: 0n }).opensAt).toBe(END)
  })

  it('waits until the program permits so late an opening', () => {
    const month = { ...RAISE, endsAt: 31n * 86_400n - 599n }
    expect(due({ plan, raise: month, at: 0n }).acts).toEqual([])
    expect(due({ plan, raise: month, at: 1n }).acts).toEqual(['open_pool'])
  })

  it('is left alone until the end, and gets the rest then', () => {
    expect(due({ plan, pool, at: END - 1n })).toMatchObject({ acts: [], blocked: null })
    const sooner = { ...pool, activationPoint: END + 599n }
    expect(due({ plan, pool: sooner, at: END - 2n }).blocked).toContain('otherwise than planned')
    const { acts, pool: rest } = due({ plan, pool, raise: taken })
    expect(acts).toEqual(['add_liquidity', 'lock_liquidity'])
    expect([rest?.liquidity, rest?.locked]).toEqual([whole.liquidity - seed.liquidity, whole.locked])
  })

  it('gets nothing twice', () => {
    const full = { ...pool, locked: whole.locked, position: { ...held, liquidity: whole.liquidity } }
    expect(due({ plan, pool: full, raise: taken })).toMatchObject({ acts: [], blocked: null })
  })

  it('gets nothing at a price that has moved, or without a position', () => {
    expect(due({ plan, pool: { ...pool, price: pool.price + 1n } }).blocked).toContain('has moved')
    expect(due({ plan, pool: { ...pool, position: null } }).blocked).toContain('holds no position')
  })
})
