/** Presets: what each becomes, that the real program takes it to its end, and what is refused by which field. */
import {
  buildCurveWithMarketCap,
  getPriceFromSqrtPrice,
  validateConfigParameters,
} from '@meteora-ag/dynamic-bonding-curve-sdk'
import { ComputeBudgetProgram, Keypair, PublicKey } from '@solana/web3.js'
import BN from 'bn.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildCurve,
  buildDbcLaunch,
  buildMigrationStep,
  DBC_LAUNCH_UNITS,
  dbcPoolAddress,
  type LaunchCurve,
  MIGRATION_UNITS,
  migrationStep,
  SWAP_UNITS,
} from '../../src/chain/programs/dbc/index.ts'
import { dbcPriceText } from '../../src/chain/programs/dbc/prices.ts'
import { squareRoot } from '../../src/solana/square-root.ts'
import { addressOf, CREATOR, KEEPER, LOCKED, lacksDbc, launchOf, openDbcChain, presetWith } from '../support/dbc.ts'
import { runs } from '../support/runs.ts'

const U64 = 2n ** 64n - 1n

describe('a preset', () => {
  it('states its prices and threshold exactly', async () => {
    const curve = await buildCurve(presetWith())
    expect(curve).toMatchObject({
      initialPrice: '0.00000003',
      migrationPrice: '0.0000004',
      totalSupply: 10n ** 15n,
      initialMarketCapLamports: 30n * 10n ** 9n,
      thresholdLamports: 85_994_066_273n,
    })
    expect(curve.points.length).toBe(1)
    expect(curve.leftover).toBeLessThan(1_000n)
  })

  it("is within a millionth of the SDK builder's result", async () => {
    const ours = await buildCurve(presetWith({ locked_vesting: LOCKED }))
    const theirs = buildCurveWithMarketCap({
      token: {
        tokenType: 0,
        tokenBaseDecimal: 6,
        tokenQuoteDecimal: 9,
        tokenAuthorityOption: 1,
        totalTokenSupply: 1_000_000_000,
        leftover: 0,
      },
      fee: {
        baseFeeParams: {
          baseFeeMode: 0,
          feeSchedulerParam: { startingFeeBps: 100, endingFeeBps: 100, numberOfPeriod: 0, totalDuration: 0 },
        },
        dynamicFeeEnabled: false,
        collectFeeMode: 0,
        creatorTradingFeePercentage: 0,
        poolCreationFee: 0,
        enableFirstSwapWithMinFee: false,
      },
      migration: {
        migrationOption: 1,
        migrationFeeOption: 2,
        migrationFee: { feePercentage: 0, creatorFeePercentage: 0 },
      },
      liquidityDistribution: {
        partnerLiquidityPercentage: 50,
        partnerPermanentLockedLiquidityPercentage: 50,
        creatorLiquidityPercentage: 0,
        creatorPermanentLockedLiquidityPercentage: 0,
      },
      lockedVesting: {
        totalLockedVestingAmount: 100_000_000,
        numberOfVestingPeriod: 10,
        cliffUnlockAmount: 0,
        totalVestingDuration: 864_000,
        cliffDurationFromMigrationTime: 0,
      },
      activationType: 1,
      initialMarketCap: 30,
      migrationMarketCap: 400,
    })
    const near = (mine: BN, other: BN) => mine.sub(other).abs().muln(1_000_000).lte(other)
    expect(near(ours.parameters.migrationQuoteThreshold, theirs.migrationQuoteThreshold)).toBe(true)
    expect(near(ours.parameters.sqrtStartPrice, theirs.sqrtStartPrice)).toBe(true)
    expect(near(ours.parameters.curve[0]!.liquidity, theirs.curve[0]!.liquidity)).toBe(true)
    // Everything that is no result of the computation is the same.
    const rest = ({ curve, sqrtStartPrice, migrationQuoteThreshold, padding, ...others }: LaunchCurve['parameters']) =>
      others
    expect(JSON.parse(JSON.stringify(rest(ours.parameters)))).toEqual(JSON.parse(JSON.stringify(rest(theirs))))
  })

  it('locks the whole amount, with the indivisible part at the cliff', async () => {
    const locked_vesting = {
      amount: '100.5',
      periods: 7,
      duration_seconds: 700,
      cliff_amount: '0.25',
      cliff_seconds: 60,
    }
    const { lockedVesting } = (await buildCurve(presetWith({ locked_vesting }))).parameters
    const [amount, periods, cliff] = [lockedVesting.amountPerPeriod, 7, lockedVesting.cliffUnlockAmount].map(Number)
    expect(amount! * periods! + cliff!).toBe(100_500_000)
    expect(cliff).toBeGreaterThanOrEqual(250_000)
    expect(cliff).toBeLessThan(250_007)
    expect(lockedVesting.frequency.toNumber()).toBe(100)
    expect(lockedVesting.cliffDurationFromMigrationTime.toNumber()).toBe(60)
  })

  const fee = (changes: object) => ({
    fee: { starting_bps: 500, ending_bps: 100, periods: 10, duration_seconds: 600, ...changes },
  })
  const liquidity = (partner: number, partner_locked: number, creator = 0, creator_locked = 0) => ({
    liquidity: { partner, partner_locked, creator, creator_locked },
  })
  const vesting = (changes: object) => ({ locked_vesting: { ...LOCKED, ...changes } })
  const REFUSED: [string, Record<string, unknown>][] = [
    ['total_supply', { total_supply: '0' }],
    ['total_supply', { total_supply: '0.0000001' }],
    ['total_supply', { total_supply: '18446744073709.551616' }],
    ['total_supply', { total_supply: '0.000001' }],
    ['initial_market_cap', { initial_market_cap: 0 }],
    ['initial_market_cap', { initial_market_cap: 1e-10 }],
    ['initial_market_cap', { initial_market_cap: 30.0000000001 }],
    ['initial_market_cap', { total_supply: '18446744073', decimals: 9, initial_market_cap: 0.000000001 }],
    ['migration_market_cap', { migration_market_cap: 30 }],
    ['migration_market_cap', { migration_market_cap: 29 }],
    ['migration_market_cap', { migration_market_cap: 2e10 }],
    ['migration_market_cap', { initial_market_cap: 3e9, migration_market_cap: 3.000000001e9 }],
    ['fee.ending_bps', fee({ ending_bps: 501 })],
    ['fee.periods', fee({ periods: 0 })],
    ['fee.duration_seconds', fee({ duration_seconds: 0 })],
    ['fee.duration_seconds', fee({ duration_seconds: 601 })],
    ['fee.periods', fee({ ending_bps: 500 })],
    ['fee.duration_seconds', fee({ ending_bps: 500, periods: 0 })],
    ['fee.periods', fee({ schedule: 'exponential', ending_bps: 499, periods: 600 })],
    ['liquidity', liquidity(50, 49)],
    ['liquidity', liquidity(50, 50, 1)],
    ['liquidity.partner_locked', liquidity(91, 9)],
    ['liquidity.partner_locked', liquidity(91, 4, 0, 5)],
    ['locked_vesting.amount', vesting({ amount: '0' })],
    ['locked_vesting.amount', vesting({ amount: '1000000000' })],
    ['locked_vesting.amount', vesting({ amount: '0.0000001' })],
    ['locked_vesting.cliff_amount', vesting({ cliff_amount: '100000000.000001' })],
    ['locked_vesting.duration_seconds', vesting({ duration_seconds: 5 })],
    ['locked_vesting.duration_seconds', vesting({ duration_seconds: 0 })],
  ]
  for (const [param, changes] of REFUSED) {
    it(`is refused for ${param}: ${JSON.stringify(changes)}`, async () => {
      const refusal = { code: 'bad_request', param, message: expect.stringContaining(param) }
      await expect(buildCurve(presetWith(changes))).rejects.toMatchObject(refusal)
    })
  }

  it('of any legal numbers becomes a curve, or is refused with the faulty field', {
    tags: 'sampled',
  }, async () => {
    const receiver = new PublicKey(new Uint8Array(32).fill(9))
    let made = 0
    await fc.assert(
      fc.asyncProperty(anyPreset, async (changes) => {
        const preset = presetWith(changes)
        const curve = await buildCurve(preset).catch((error) => {
          expect(error).toMatchObject({ code: 'bad_request', param: expect.any(String) })
          return null
        })
        if (curve === null) return
        made++
        validateConfigParameters({ ...curve.parameters, leftoverReceiver: receiver })
        expect(curve.leftover).toBeGreaterThanOrEqual(0n)
        expect(Number(curve.migrationPrice)).toBeGreaterThan(0)
      }),
      { numRuns: runs(100, 1_000) },
    )
    expect(made).toBeGreaterThan(runs(10, 300))
  })

  it.skipIf(lacksDbc)(
    'that is accepted is launched, filled and migrated by the real programs, whatever its numbers (needs DBC, DAMM v2, Metaplex and Lock in the cache)',
    { tags: 'sampled' },
    async ({ annotate }) => {
      const opened = await openDbcChain()
      const most: Record<string, number> = {}
      const note = (what: string) => {
        most[what] = Math.max(most[what] ?? 0, opened.units)
      }
      const rich = (key: Keypair, lamports: bigint) =>
        opened.chain.setAccount(addressOf(key), {
          lamports,
          owner: '11111111111111111111111111111111',
          data: new Uint8Array(),
          executable: false,
        })
      await fc.assert(
        fc.asyncProperty(anyPreset, async (changes) => {
          const curve = await buildCurve(presetWith(changes)).catch(() => null)
          fc.pre(curve !== null && curve.thresholdLamports < 10n ** 15n)
          const [mint, config] = [Keypair.generate(), Keypair.generate()]
          for (const key of [mint, config]) opened.keys.set(addressOf(key), key)
          rich(CREATOR, 10n ** 12n)
          // A fee of 99 % takes a hundred times what fills the curve.
          rich(KEEPER, curve!.thresholdLamports * 110n + 10n ** 10n)
          const { blockhash } = opened.chain.latestBlockhash()
          const launch = {
            ...(await launchOf(blockhash, { curve: curve! })),
            mint: addressOf(mint),
            config: addressOf(config),
          }
          for (const transaction of await buildDbcLaunch(launch)) {
            expect(opened.land(transaction), opened.logs.join('\n')).toBeNull()
            note('whole')
          }
          let pool = await opened.read(await dbcPoolAddress(launch))
          expect(pool.threshold).toBe(curve!.thresholdLamports)
          expect(pool.migrationSqrtPrice).toBe(curve!.points[0]!.sqrtPrice)
          expect(pool.price).toBe(curve!.initialPrice)
          pool = await opened.trade(pool, 'buy', curve!.thresholdLamports * 101n, KEEPER)
          note('swap')
          expect(pool.quoteReserve).toBe(pool.threshold)
          expect(pool.price).toBe(curve!.migrationPrice)
          while (migrationStep(pool) !== 'done') {
            const step = await buildMigrationStep({
              pool,
              payer: addressOf(KEEPER),
              recentBlockhash: blockhash,
              before: [ComputeBudgetProgram.setComputeUnitLimit({ units: 450_000 })],
            })
            expect(opened.land(step, step.secretKeys), opened.logs.join('\n')).toBeNull()
            note(step.step)
            pool = await opened.read(pool.address)
          }
        }),
        { numRuns: runs(4, 60) },
      )
      await annotate(JSON.stringify(most), 'units')
      expect(most.whole).toBeLessThan(DBC_LAUNCH_UNITS.whole)
      expect(most.swap).toBeLessThan(SWAP_UNITS)
      expect(most.migrate).toBeLessThan(MIGRATION_UNITS.migrate)
      expect(most.create_locker ?? 0).toBeLessThan(MIGRATION_UNITS.create_locker)
    },
  )
})

describe('a price', () => {
  it('has 15 significant digits of the true value', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 4_295_048_016n, max: 79_226_673_521_066_979_257_578_248_090n }),
        fc.integer({ min: 6, max: 9 }),
        (sqrtPrice, decimals) => {
          const text = dbcPriceText(sqrtPrice, decimals)
          expect(text).toMatch(/^[0-9]+(\.[0-9]*[1-9])?$/)
          const exact = getPriceFromSqrtPrice(new BN(sqrtPrice.toString()), decimals, 9)
          expect(exact.sub(text).abs().lte(exact.mul('1e-14'))).toBe(true)
        },
      ),
    )
  })

  it('is as short as possible', () => {
    expect(dbcPriceText(2n ** 64n, 9)).toBe('1')
    expect(dbcPriceText(2n ** 64n, 6)).toBe('0.001')
    expect(dbcPriceText(10n * 2n ** 64n, 9)).toBe('100')
  })

  it('is computed from whole square roots', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n }), (value) => {
        const root = squareRoot(value)
        expect(root * root <= value && (root + 1n) * (root + 1n) > value).toBe(true)
      }),
    )
  })
})

const magnitude = (from: number, to: number) =>
  fc.double({ min: from, max: to, noNaN: true }).map((exponent) => 10 ** exponent)

/** Presets that the schema takes, most of which the program does too. */
const anyPreset = fc
  .record({
    decimals: fc.integer({ min: 6, max: 9 }),
    supply: magnitude(3, 13),
    initial: magnitude(-4, 6),
    growth: magnitude(-3, 4),
    starting: fc.integer({ min: 25, max: 9900 }),
    falls: fc.boolean(),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    schedule: fc.constantFrom('linear', 'exponential'),
    periods: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 65_535 })),
    period: fc.constantFrom(1, 60, 3_600, 65_000),
    creator_fee_percentage: fc.integer({ min: 0, max: 100 }),
    migration_fee_bps: fc.constantFrom(25, 30, 100, 200, 400, 600),
    locked: fc.integer({ min: 10, max: 100 }),
    partner: fc.integer({ min: 0, max: 100 }),
    vesting: fc.option(
      fc.record({
        part: fc.double({ min: 0.001, max: 0.95, noNaN: true }),
        periods: fc.integer({ min: 1, max: 65_535 }),
        cliff_seconds: fc.constantFrom(0, 86_400, 4_294_967_295),
        cliff: fc.constantFrom(0, 0.5, 1),
      }),
      { nil: undefined },
    ),
  })
  .map((it) => {
    const supply = BigInt(Math.floor(Math.min(it.supply, Number(U64 / 10n ** BigInt(it.decimals)) * 0.99)))
    const initial = Number(it.initial.toFixed(6))
    const ending = it.falls ? Math.max(25, Math.floor(it.starting * it.share)) : it.starting
    const periods = ending === it.starting ? 0 : it.periods
    const free = Math.min(it.partner, 100 - it.locked)
    const amount = it.vesting && BigInt(Math.floor(Number(supply) * it.vesting.part))
    return {
      total_supply: String(supply),
      decimals: it.decimals,
      initial_market_cap: initial,
      migration_market_cap: Number((initial * (1 + it.growth)).toFixed(6)),
      fee: {
        schedule: it.schedule,
        starting_bps: it.starting,
        ending_bps: ending,
        periods,
        duration_seconds: Math.min(periods * it.period, 4_294_967_295),
      },
      creator_fee_percentage: it.creator_fee_percentage,
      migration_fee_bps: it.migration_fee_bps,
      liquidity: {
        partner: free,
        partner_locked: Math.floor(it.locked / 2),
        creator: 100 - it.locked - free,
        creator_locked: it.locked - Math.floor(it.locked / 2),
      },
      ...(it.vesting === undefined || amount === undefined
        ? {}
        : {
            locked_vesting: {
              amount: String(amount),
              periods: it.vesting.periods,
              duration_seconds: it.vesting.periods * 60,
              cliff_seconds: it.vesting.cliff_seconds,
              cliff_amount: String(it.vesting.cliff === 1 ? amount : it.vesting.cliff === 0 ? 0n : amount / 2n),
            },
          }),
    }
  })
