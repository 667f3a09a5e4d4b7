/** Presets over all that one can say, for properties of any of them: most are within the program's rules. */
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { USDC } from './quotes.ts'

const magnitude = (from: number, to: number) =>
  fc.double({ min: from, max: to, noNaN: true }).map((exponent) => 10 ** exponent)
const part = fc.double({ min: 0, max: 1, noNaN: true })
const weight = fc.oneof(fc.integer({ min: 1, max: 100 }), magnitude(-2, 2))

const shapes = fc.record({
  kind: fc.constantFrom('market_cap', 'two_segments', 'mid_price', 'liquidity_weights', 'custom'),
  migration_supply_percentage: fc.integer({ min: 1, max: 60 }),
  weights: fc.array(weight, { minLength: 16, maxLength: 16 }),
  parts: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 15 }),
  even: fc.boolean(),
  mid: part,
})
const vesting = fc.option(
  fc.record({
    percentage: fc.integer({ min: 1, max: 20 }),
    periods: fc.integer({ min: 1, max: 400 }),
    // The cached program is a build for tests, which locks for a day at most; the deployed one takes years.
    period: fc.constantFrom(1, 60),
    cliff_seconds: fc.constantFrom(0, 3_600),
    cliff_bps: fc.constantFrom(0, 1_000, 9_000),
  }),
  { nil: undefined },
)
const migratedPool = fc.option(
  fc.record({
    collect_fee_mode: fc.constantFrom('quote', 'both', 'compounding'),
    dynamic_fee: fc.boolean(),
    falls: fc.boolean(),
    schedule: fc.constantFrom('linear', 'exponential'),
    share: part,
    periods: fc.integer({ min: 1, max: 60 }),
    price_multiple: fc.constantFrom(1.5, 10, 1_000),
    duration_seconds: fc.constantFrom(60, 864_000),
  }),
  { nil: undefined },
)

/** The fields of a preset as its author writes them. */
export const anyWholePreset = fc
  .record({
    decimals: fc.integer({ min: 6, max: 9 }),
    token_program: fc.constantFrom('spl', 'token2022'),
    quoted: fc.boolean(),
    supply: magnitude(5, 10),
    initial: magnitude(-2, 4),
    growth: magnitude(-1, 3),
    shape: shapes,
    leftover: fc.constantFrom(0, 0, 0.05),
    starting: fc.integer({ min: 25, max: 9_000 }),
    falls: fc.boolean(),
    share: part,
    schedule: fc.constantFrom('linear', 'exponential'),
    periods: fc.integer({ min: 1, max: 60 }),
    dynamic_fee: fc.boolean(),
    collect_fee_mode: fc.constantFrom('quote', 'both'),
    first_swap_min_fee: fc.boolean(),
    pool_creation_fee: fc.constantFrom(0, 0, 0.001, 1.5, 100),
    creator_fee_percentage: fc.integer({ min: 0, max: 100 }),
    named: fc.boolean(),
    token_update_authority: fc.constantFrom('immutable', 'creator', 'partner'),
    migration_fee_bps: fc.oneof(fc.constantFrom(25, 30, 100, 200, 400, 600), fc.integer({ min: 10, max: 1_000 })),
    migratedPool,
    migrationFee: fc.option(
      fc.record({
        percentage: fc.oneof(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 20 })),
        creator_percentage: fc.integer({ min: 0, max: 100 }),
      }),
      { nil: undefined },
    ),
    locked: fc.integer({ min: 0, max: 60 }),
    partner: fc.integer({ min: 0, max: 100 }),
    partnerVesting: vesting,
    creatorVesting: vesting,
    lockedVesting: fc.option(part, { nil: undefined }),
  })
  .map((it) => {
    const supply = BigInt(Math.floor(it.supply))
    const initial = Number(it.initial.toFixed(4))
    const migration = Number((initial * (1 + it.growth)).toFixed(4))
    const between = (share: number) => Number((initial + (migration - initial) * share).toFixed(4))
    const ending = it.falls ? Math.max(25, Math.floor(it.starting * it.share)) : it.starting
    const periods = ending === it.starting ? 0 : it.periods
    const vestingOf = (vesting: typeof it.partnerVesting) =>
      vesting && {
        percentage: vesting.percentage,
        periods: vesting.periods,
        duration_seconds: vesting.periods * vesting.period,
        cliff_seconds: vesting.cliff_seconds,
        cliff_bps: vesting.cliff_bps,
      }
    const vested = (it.partnerVesting?.percentage ?? 0) + (it.creatorVesting?.percentage ?? 0)
    const locked = Math.min(it.locked, 100 - vested)
    const partner = Math.min(it.partner, 100 - locked - vested)
    const { migratedPool: pool } = it
    const key = Keypair.fromSeed(new Uint8Array(32).fill(it.starting % 256)).publicKey.toBase58()
    return {
      total_supply: String(supply),
      decimals: it.decimals,
      token_program: it.token_program,
      ...(it.quoted ? { quote_mint: USDC, quote_decimals: 6 } : {}),
      initial_market_cap: initial,
      migration_market_cap: migration,
      shape: shapeOf(it.shape, between),
      leftover: String(BigInt(Math.floor(Number(supply) * it.leftover))),
      fee: {
        schedule: it.schedule,
        starting_bps: it.starting,
        ending_bps: ending,
        periods,
        duration_seconds: periods * 60,
      },
      dynamic_fee: it.dynamic_fee,
      collect_fee_mode: it.collect_fee_mode,
      first_swap_min_fee: it.first_swap_min_fee,
      pool_creation_fee: it.pool_creation_fee,
      creator_fee_percentage: it.creator_fee_percentage,
      ...(it.named ? { fee_claimer: key, leftover_receiver: key } : {}),
      token_update_authority: it.token_update_authority,
      migration_fee_bps: it.migration_fee_bps,
      ...(pool === undefined
        ? {}
        : {
            migrated_pool: {
              collect_fee_mode: pool.collect_fee_mode,
              compounding_fee_bps: pool.collect_fee_mode === 'compounding' ? it.starting : 0,
              dynamic_fee: pool.dynamic_fee,
              ...(pool.falls
                ? {
                    fee_schedule: {
                      schedule: pool.schedule,
                      ending_bps: Math.max(1, Math.floor(it.migration_fee_bps * pool.share)),
                      periods: pool.periods,
                      price_multiple: pool.price_multiple,
                      duration_seconds: pool.duration_seconds,
                    },
                  }
                : {}),
            },
          }),
      ...(it.migrationFee === undefined ? {} : { migration_fee: it.migrationFee }),
      ...(it.lockedVesting === undefined
        ? {}
        : {
            locked_vesting: {
              amount: String(BigInt(Math.floor(Number(supply) * it.lockedVesting * 0.8)) + 1n),
              periods: it.periods,
              duration_seconds: it.periods * 60,
            },
          }),
      liquidity: {
        partner,
        partner_locked: Math.floor(locked / 2),
        creator: 100 - locked - vested - partner,
        creator_locked: locked - Math.floor(locked / 2),
        ...(it.partnerVesting === undefined ? {} : { partner_vesting: vestingOf(it.partnerVesting) }),
        ...(it.creatorVesting === undefined ? {} : { creator_vesting: vestingOf(it.creatorVesting) }),
      },
    }
  })

interface ShapeParts {
  kind: string
  migration_supply_percentage: number
  weights: number[]
  parts: number[]
  even: boolean
  mid: number
}

function shapeOf(it: ShapeParts, between: (share: number) => number): object {
  const { kind, migration_supply_percentage, weights } = it
  if (kind === 'two_segments') return { kind, migration_supply_percentage }
  if (kind === 'mid_price') return { kind, migration_supply_percentage, mid_market_cap: between(it.mid) }
  if (kind === 'liquidity_weights') return { kind, weights }
  if (kind !== 'custom') return { kind }
  const parts = [...it.parts].sort((a, b) => a - b)
  const market_caps = parts.map((share) => between(share / 100))
  return { kind, market_caps, ...(it.even ? {} : { weights: weights.slice(0, parts.length + 1) }) }
}
