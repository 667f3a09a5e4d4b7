/** Random lives of a launch: a preset, trades, claims in any order by everybody, and what comes after the migration. */
import fc from 'fast-check'
import { BENEFICIARIES_OF, type Beneficiary, FEE_CLAIM_KINDS, type FeeClaimKind } from '../../../src/api/fee-claims.ts'

export type BooksStep =
  | { act: 'buy'; trader: number; permille: number }
  | { act: 'sell'; trader: number; percent: number }
  | {
      act: 'claim'
      kind: FeeClaimKind
      as: Beneficiary
      how: (typeof CLAIM_WAYS)[number]
      split: readonly number[] | null
    }
  | { act: 'protocol' }
  | { act: 'hand over' }
  | { act: 'wait'; seconds: number }

export interface BooksScenario {
  /** As it stands in the file of the presets, but for the quote. */
  preset: Readonly<Record<string, unknown>>
  /** Decimals of a mint that the curve is quoted in instead of SOL. */
  quoteDecimals: number | null
  /** The creator's first buy, in thousandths of the curve. */
  firstBuy: number
  onCurve: readonly BooksStep[]
  /** Lamports that are put into the full curve as rounding over many trades leaves them. */
  surplus: number
  /** Between the end of the curve and its migration. */
  whileFull: readonly BooksStep[]
  migrated: readonly BooksStep[]
}

export const TRADERS = 3
/** Built by svc and signed by the platform wallet, or unsigned, which the claimer or a sponsor pays; or by another client. */
export const CLAIM_WAYS = ['signed', 'unsigned', 'sponsored', 'elsewhere'] as const

const CLAIMS = FEE_CLAIM_KINDS.flatMap((kind) => BENEFICIARIES_OF[kind].map((as) => ({ kind, as })))

const trader = fc.nat({ max: TRADERS - 1 })
const buy = fc.record({ act: fc.constant('buy' as const), trader, permille: fc.integer({ min: 1, max: 250 }) })
const sell = fc.record({ act: fc.constant('sell' as const), trader, percent: fc.integer({ min: 1, max: 100 }) })

/** Hundredths of a percent that sum to 10,000. */
const split = fc
  .array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 3 })
  .map((bps) => [...bps, 10_000 - bps.reduce((sum, each) => sum + each, 0)])

const claim = fc
  .record({
    what: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...CLAIMS.filter(({ kind }) => kind === 'dbc')) },
      { weight: 3, arbitrary: fc.constantFrom(...CLAIMS) },
    ),
    how: fc.constantFrom(...CLAIM_WAYS),
    split: fc.option(split, { freq: 4 }),
  })
  .map(({ what, how, split }): BooksStep => {
    // The platform wallet signs what is its own, and other clients know no splits.
    const way = how === 'signed' && what.as === 'creator' ? 'unsigned' : how
    return { act: 'claim', ...what, how: way, split: what.kind === 'dbc' && way !== 'elsewhere' ? split : null }
  })
const rest = fc.oneof(
  fc.constant<BooksStep>({ act: 'protocol' }),
  fc.constant<BooksStep>({ act: 'hand over' }),
  fc.record({ act: fc.constant('wait' as const), seconds: fc.constantFrom(1, 60, 3_600, 86_400) }),
)

const steps = (maxLength: number) =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: buy },
      { weight: 2, arbitrary: sell },
      { weight: 5, arbitrary: claim },
      { weight: 2, arbitrary: rest },
    ),
    { minLength: 2, maxLength },
  )

const vestingOfLiquidity = fc.option(
  fc.record({
    percentage: fc.integer({ min: 1, max: 10 }),
    periods: fc.integer({ min: 1, max: 20 }),
    cliff_bps: fc.constantFrom(0, 1_000),
  }),
  { nil: undefined },
)
const shape = fc.constantFrom(
  { kind: 'market_cap' },
  { kind: 'two_segments', migration_supply_percentage: 20 },
  { kind: 'liquidity_weights', weights: Array.from({ length: 16 }, (_, i) => 1.2 ** i) },
)

/** Presets of every feature, whose curves fill with what test wallets have. */
const booksPreset = fc
  .record({
    decimals: fc.integer({ min: 6, max: 9 }),
    token_program: fc.constantFrom('spl', 'token2022'),
    supply: fc.constantFrom('1000000', '1000000000', '123456789'),
    initial: fc.integer({ min: 1, max: 50 }),
    growth: fc.integer({ min: 2, max: 20 }),
    shape,
    keepsSome: fc.boolean(),
    fee: fc.record({
      schedule: fc.constantFrom('linear', 'exponential'),
      starting_bps: fc.integer({ min: 100, max: 5_000 }),
      falls: fc.boolean(),
    }),
    dynamic_fee: fc.boolean(),
    collect_fee_mode: fc.constantFrom('quote', 'both'),
    first_swap_min_fee: fc.boolean(),
    pool_creation_fee: fc.constantFrom(0, 0.001, 1.5),
    creator_fee_percentage: fc.constantFrom(0, 1, 20, 37, 50, 99, 100),
    migration_fee_bps: fc.constantFrom(25, 30, 100, 200, 400, 600),
    migrated_pool: fc.option(
      fc.record({ collect_fee_mode: fc.constantFrom('quote', 'both'), dynamic_fee: fc.boolean() }),
      { nil: undefined },
    ),
    migration_fee: fc.option(
      fc.record({ percentage: fc.integer({ min: 1, max: 30 }), creator_percentage: fc.integer({ min: 0, max: 100 }) }),
      { nil: undefined },
    ),
    liquidity: fc.record({
      partner: fc.nat({ max: 30 }),
      creator: fc.nat({ max: 30 }),
      locked: fc.nat({ max: 100 }),
      partner_vesting: vestingOfLiquidity,
      creator_vesting: vestingOfLiquidity,
    }),
    vesting: fc.option(
      fc.record({ percent: fc.integer({ min: 1, max: 30 }), periods: fc.integer({ min: 1, max: 20 }) }),
    ),
  })
  .map(({ supply, initial, growth, keepsSome, fee, liquidity, vesting, ...rest }) => {
    const vested = [liquidity.partner_vesting, liquidity.creator_vesting].map((each) => each?.percentage ?? 0)
    const locked = 100 - liquidity.partner - liquidity.creator - vested[0]! - vested[1]!
    const lockedForPartner = Math.floor((locked * liquidity.locked) / 100)
    const percentOfSupply = (percent: number) => String(Math.floor((Number(supply) * percent) / 100))
    const released = (each: typeof liquidity.partner_vesting) =>
      each && { ...each, duration_seconds: each.periods * 60 }
    return {
      total_supply: supply,
      initial_market_cap: initial,
      migration_market_cap: initial * growth,
      // A migration fee needs something left over.
      leftover: keepsSome || rest.migration_fee !== undefined ? percentOfSupply(3) : '0',
      ...rest,
      fee: {
        schedule: fee.schedule,
        starting_bps: fee.starting_bps,
        ...(fee.falls && fee.starting_bps > 100
          ? { ending_bps: 100, periods: 10, duration_seconds: 600 }
          : { ending_bps: fee.starting_bps }),
      },
      liquidity: {
        partner: liquidity.partner,
        creator: liquidity.creator,
        partner_locked: lockedForPartner,
        creator_locked: locked - lockedForPartner,
        partner_vesting: released(liquidity.partner_vesting),
        creator_vesting: released(liquidity.creator_vesting),
      },
      ...(vesting === null
        ? {}
        : {
            locked_vesting: {
              amount: percentOfSupply(vesting.percent),
              periods: vesting.periods,
              duration_seconds: vesting.periods * 60,
            },
          }),
    }
  })

export const booksScenario: fc.Arbitrary<BooksScenario> = fc
  .record({
    preset: booksPreset,
    quoteDecimals: fc.option(fc.constantFrom(6, 9), { freq: 3 }),
    firstBuy: fc.constantFrom(0, 1, 50),
    onCurve: steps(10),
    surplus: fc.constantFrom(0, 1, 999, 1_000_003),
    whileFull: fc.array(claim, { maxLength: 4 }),
    migrated: steps(12),
  })
  .map(({ preset, ...scenario }) => readable({ preset: JSON.parse(JSON.stringify(preset)), ...scenario }))

/** What fast-check prints of it: the preset on one line, and a line for each step. */
const readable = (scenario: BooksScenario): BooksScenario =>
  Object.defineProperty(scenario, fc.toStringMethod, { value: () => scenarioText(scenario), enumerable: false })

export function scenarioText({
  preset,
  quoteDecimals,
  firstBuy,
  onCurve,
  surplus,
  whileFull,
  migrated,
}: BooksScenario): string {
  const part = (title: string, steps: readonly BooksStep[]) => [title, ...steps.map((step) => `  ${stepText(step)}`)]
  return [
    '',
    `preset ${JSON.stringify(preset)}`,
    quoteDecimals === null ? 'quoted in SOL' : `quoted in a mint of ${quoteDecimals} decimals`,
    `the creator buys ${firstBuy}/1000 of the curve with the launch`,
    ...part('on the curve', onCurve),
    ...part(`while it is full, with a surplus of ${surplus} beside its own`, whileFull),
    ...part('after the migration', migrated),
    '',
  ].join('\n')
}

export function stepText(step: BooksStep): string {
  switch (step.act) {
    case 'buy':
      return `trader ${step.trader} buys for ${step.permille}/1000 of the curve`
    case 'sell':
      return `trader ${step.trader} sells ${step.percent} %`
    case 'claim':
      return `the ${step.as} claims ${step.kind}, ${step.how}${step.split ? `, split ${step.split.join(' ')}` : ''}`
    case 'protocol':
      return 'the protocol claims'
    case 'hand over':
      return 'the creator hands its role over'
    case 'wait':
      return `${step.seconds} s pass`
  }
}
