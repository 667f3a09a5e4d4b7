/** All that a preset can say: whatever passes here the real programs take to the end, and what is refused names its field. */
import { buildCurveWithLiquidityWeights, buildCurveWithTwoSegments } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { ComputeBudgetProgram, Keypair } from '@solana/web3.js'
import type BN from 'bn.js'
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
  migratedPoolAddress,
  migrationStep,
  SWAP_UNITS,
} from '../../src/chain/programs/dbc/index.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import {
  addressOf,
  CREATOR,
  type DbcChain,
  KEEPER,
  lacksDbc,
  launchOf,
  openDbcChain,
  presetWith,
} from '../support/dbc.ts'
import { anyWholePreset } from '../support/preset-space.ts'
import { putMint, putTokens, QUOTES, USDC } from '../support/quotes.ts'
import { runs } from '../support/runs.ts'

/** Launches with a first buy of a tenth, fills the curve and migrates the pool. `landed` gets each landing's error. */
async function runToTheEnd(
  opened: DbcChain,
  curve: LaunchCurve,
  landed: (what: string, err: unknown) => void,
): Promise<void> {
  const { thresholdLamports: threshold, quoteMint } = curve
  const { chain } = opened
  const [mint, config] = [Keypair.generate(), Keypair.generate()]
  for (const key of [mint, config]) opened.keys.set(addressOf(key), key)
  // A fee of 99 % takes a hundred times what fills the curve.
  for (const owner of [CREATOR, KEEPER]) {
    const amount = threshold * 120n
    const lamports = 10n ** 12n + amount
    chain.setAccount(addressOf(owner), {
      lamports,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
      executable: false,
    })
    const quote = QUOTES.find(({ mint }) => mint === quoteMint)
    if (quote !== undefined) putTokens(chain, quote, { owner, amount })
  }
  const { blockhash } = chain.latestBlockhash()
  const launch = {
    ...(await launchOf(blockhash, { curve, buyLamports: threshold / 10n })),
    mint: addressOf(mint),
    config: addressOf(config),
  }
  for (const transaction of await buildDbcLaunch(launch)) landed('launch', opened.land(transaction))
  let pool = await opened.read(await dbcPoolAddress({ ...launch, quoteMint }))
  expect([pool.threshold, pool.migrationSqrtPrice]).toEqual([threshold, curve.points.at(-1)!.sqrtPrice])
  pool = await opened.trade(pool, 'buy', threshold * 110n, KEEPER)
  landed('swap', null)
  while (migrationStep(pool) !== 'done') {
    const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: MIGRATION_UNITS.migrate })]
    const step = await buildMigrationStep({
      pool,
      payer: addressOf(KEEPER),
      recentBlockhash: blockhash,
      before,
    })
    landed(step.step, opened.land(step, step.secretKeys))
    pool = await opened.read(pool.address)
  }
  expect(chain.account(await migratedPoolAddress(pool))).not.toBeNull()
}

describe('a whole preset', () => {
  it('becomes a curve, or is refused by the name of a field', { tags: 'sampled' }, async () => {
    let made = 0
    await fc.assert(
      fc.asyncProperty(anyWholePreset, async (fields) => {
        const preset = presetWith(fields)
        const curve = await buildCurve(preset).catch((error) => {
          expect(error, error.message).toMatchObject({ code: 'bad_request', param: expect.any(String) })
          return null
        })
        if (curve === null) return
        made++
        expect(curve.leftover).toBeGreaterThanOrEqual(BigInt(preset.leftover) * 10n ** BigInt(preset.decimals))
      }),
      { numRuns: runs(60, 500) },
    )
    expect(made).toBeGreaterThan(runs(5, 150))
  })

  it.skipIf(lacksDbc)(
    'that is accepted is launched with its first buy, filled and migrated by the real programs (needs DBC, DAMM v2, Metaplex and Lock in the cache)',
    { tags: 'sampled' },
    async ({ annotate }) => {
      const opened = await openDbcChain()
      const { chain } = opened
      for (const quote of QUOTES) putMint(chain, quote)
      const most: Record<string, number> = {}
      const landed = (what: string, err: unknown) => {
        expect(err, `${what}: ${opened.logs.join('\n')}`).toBeNull()
        most[what] = Math.max(most[what] ?? 0, opened.units)
      }
      await fc.assert(
        fc.asyncProperty(anyWholePreset, async (fields) => {
          const curve = await buildCurve(presetWith(fields)).catch(() => null)
          fc.pre(curve !== null && curve.thresholdLamports < 10n ** 15n && curve.thresholdLamports > 1_000n)
          await runToTheEnd(opened, curve!, landed)
        }),
        { numRuns: runs(4, 60) },
      )
      await annotate(JSON.stringify(most), 'units')
      expect(most.launch).toBeLessThan(DBC_LAUNCH_UNITS.poolAndBuy)
      expect(most.swap).toBeLessThan(SWAP_UNITS)
      expect(most.create_locker ?? 0).toBeLessThan(MIGRATION_UNITS.create_locker)
    },
  )

  /** The SDK would set aside one raw unit less than the program does. */
  const COMPOUNDS = {
    total_supply: '100000',
    decimals: 6,
    initial_market_cap: 1,
    migration_market_cap: 162.8616,
    fee: { starting_bps: 25, ending_bps: 25 },
    migration_fee_bps: 25,
    migrated_pool: { collect_fee_mode: 'compounding', compounding_fee_bps: 25 },
    migration_fee: { percentage: 2, creator_percentage: 0 },
    liquidity: { partner: 0, partner_locked: 5, creator: 90, creator_locked: 5 },
  }

  it('that compounds in its pool reserves what a constant product needs', async () => {
    const { parameters, leftover, points, startSqrtPrice, thresholdLamports } = await buildCurve(presetWith(COMPOUNDS))
    const [{ sqrtPrice: end, liquidity }] = points as [(typeof points)[0]]
    const up = (numerator: bigint, denominator: bigint) => (numerator + denominator - 1n) / denominator
    const sold = up(liquidity * (end - startSqrtPrice), end * startSqrtPrice)
    const quote = up(thresholdLamports * 98n, 100n)
    expect(sold + up(quote << 128n, end * end) + leftover).toBe(10n ** 11n)
    expect(leftover).toBeLessThan(10n)
    expect(parameters.tokenSupply?.postMigrationTokenSupply.toString()).toBe('100000000000')
  })

  it.skipIf(lacksDbc)(
    'that compounds in its pool is launched, filled and migrated by the real programs, whatever its migration fee (needs DBC, DAMM v2, Metaplex and Lock in the cache)',
    { tags: 'sampled' },
    async () => {
      const opened = await openDbcChain()
      for (const quote of QUOTES) putMint(opened.chain, quote)
      const compounding = fc
        .record({
          fields: anyWholePreset,
          bps: fc.integer({ min: 1, max: 9_000 }),
          percentage: fc.integer({ min: 0, max: 99 }),
        })
        .map(({ fields, bps, percentage }) => ({
          ...fields,
          migrated_pool: { ...fields.migrated_pool, collect_fee_mode: 'compounding', compounding_fee_bps: bps },
          migration_fee: percentage === 0 ? undefined : { percentage, creator_percentage: percentage },
        }))
      await fc.assert(
        fc.asyncProperty(compounding as fc.Arbitrary<object>, async (fields) => {
          const curve = await buildCurve(presetWith({ ...fields })).catch(() => null)
          fc.pre(curve !== null && curve.thresholdLamports < 10n ** 15n)
          await runToTheEnd(opened, curve!, (what, err) => expect(err, `${what}: ${opened.logs.join('\n')}`).toBeNull())
        }),
        { numRuns: runs(2, 30), examples: [[COMPOUNDS]] },
      )
    },
  )

  const near = (mine: BN, other: BN) => mine.sub(other).abs().muln(100_000).lte(other)
  const terms = {
    token: {
      tokenType: 0,
      tokenBaseDecimal: 6,
      tokenQuoteDecimal: 9,
      tokenAuthorityOption: 1,
      totalTokenSupply: 1_000_000_000,
      leftover: 1_000,
    },
    fee: {
      baseFeeParams: {
        baseFeeMode: 0,
        feeSchedulerParam: { startingFeeBps: 100, endingFeeBps: 100, numberOfPeriod: 0, totalDuration: 0 },
      },
      dynamicFeeEnabled: true,
      collectFeeMode: 1,
      creatorTradingFeePercentage: 10,
      poolCreationFee: 1,
      enableFirstSwapWithMinFee: true,
    },
    migration: {
      migrationOption: 1,
      migrationFeeOption: 6,
      migrationFee: { feePercentage: 10, creatorFeePercentage: 50 },
      migratedPoolFee: {
        collectFeeMode: 0,
        dynamicFee: 1,
        poolFeeBps: 250,
        baseFeeMode: 4,
        marketCapFeeSchedulerParams: {
          endingBaseFeeBps: 50,
          numberOfPeriod: 10,
          priceMultiple: 10,
          schedulerExpirationDuration: 86_400,
        },
      },
    },
    liquidityDistribution: {
      partnerLiquidityPercentage: 10,
      partnerPermanentLockedLiquidityPercentage: 40,
      creatorLiquidityPercentage: 30,
      creatorPermanentLockedLiquidityPercentage: 0,
      creatorLiquidityVestingInfoParams: {
        vestingPercentage: 20,
        bpsPerPeriod: 900,
        numberOfPeriods: 10,
        cliffDurationFromMigrationTime: 3_600,
        totalDuration: 864_000,
      },
    },
    lockedVesting: {
      totalLockedVestingAmount: 0,
      numberOfVestingPeriod: 0,
      cliffUnlockAmount: 0,
      totalVestingDuration: 0,
      cliffDurationFromMigrationTime: 0,
    },
    activationType: 1,
    initialMarketCap: 30,
    migrationMarketCap: 400,
  }
  const fields = {
    leftover: '1000',
    fee: { starting_bps: 100, ending_bps: 100 },
    dynamic_fee: true,
    collect_fee_mode: 'both',
    creator_fee_percentage: 10,
    pool_creation_fee: 1,
    first_swap_min_fee: true,
    migration_fee_bps: 250,
    migration_fee: { percentage: 10, creator_percentage: 50 },
    migrated_pool: {
      dynamic_fee: true,
      fee_schedule: {
        schedule: 'exponential',
        ending_bps: 50,
        periods: 10,
        price_multiple: 10,
        duration_seconds: 86_400,
      },
    },
    liquidity: {
      partner: 10,
      partner_locked: 40,
      creator: 30,
      creator_locked: 0,
      creator_vesting: {
        percentage: 20,
        periods: 10,
        cliff_seconds: 3_600,
        duration_seconds: 864_000,
        cliff_bps: 1_000,
      },
    },
  }
  const weights = Array.from({ length: 16 }, (_, i) => 1.2 ** i)
  for (const [kind, shape, theirs] of [
    [
      'two_segments',
      { migration_supply_percentage: 20 },
      buildCurveWithTwoSegments({ ...terms, percentageSupplyOnMigration: 20 }),
    ],
    ['liquidity_weights', { weights }, buildCurveWithLiquidityWeights({ ...terms, liquidityWeights: weights })],
  ] as const) {
    it(`of ${kind} means what the builder of the SDK means`, async () => {
      const { parameters } = await buildCurve(presetWith({ ...fields, shape: { kind, ...shape } }))
      expect(near(parameters.migrationQuoteThreshold, theirs.migrationQuoteThreshold)).toBe(true)
      expect(near(parameters.sqrtStartPrice, theirs.sqrtStartPrice)).toBe(true)
      expect(parameters.curve.length).toBe(theirs.curve.length)
      for (const [i, point] of parameters.curve.entries()) {
        expect(near(point.sqrtPrice, theirs.curve[i]!.sqrtPrice)).toBe(true)
        expect(near(point.liquidity, theirs.curve[i]!.liquidity)).toBe(true)
      }
      const rest = ({ curve, sqrtStartPrice, migrationQuoteThreshold, padding, ...others }: typeof parameters) => others
      expect(JSON.parse(JSON.stringify(rest(parameters)))).toEqual(JSON.parse(JSON.stringify(rest(theirs))))
    })
  }

  const liquidity = (changes: object) => ({
    liquidity: { partner: 50, partner_locked: 30, creator: 0, creator_locked: 0, ...changes },
  })
  const vesting = { percentage: 20, periods: 10, duration_seconds: 864_000 }
  const shape = (kind: string, more: object) => ({ shape: { kind, ...more } })
  const schedule = (changes: object) => ({
    migrated_pool: {
      fee_schedule: { ending_bps: 50, periods: 10, price_multiple: 10, duration_seconds: 60, ...changes },
    },
  })
  const REFUSED: [string, Record<string, unknown>][] = [
    ['quote_mint', { quote_mint: '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9' }],
    ['quote_decimals', { quote_decimals: 6 }],
    ['initial_market_cap', { quote_mint: USDC, quote_decimals: 2, initial_market_cap: 0.001 }],
    ['fee_claimer', { fee_claimer: SYSTEM_PROGRAM }],
    ['leftover_receiver', { leftover_receiver: SYSTEM_PROGRAM }],
    ['leftover', { leftover: '1000000000' }],
    ['pool_creation_fee', { pool_creation_fee: 0.0009 }],
    ['pool_creation_fee', { pool_creation_fee: 0.0000000001 }],
    ['shape.market_caps.0', shape('custom', { market_caps: [30] })],
    ['shape.market_caps.1', shape('custom', { market_caps: [60, 50] })],
    ['shape.market_caps.1', shape('custom', { market_caps: [60, 400] })],
    ['shape.weights', shape('custom', { market_caps: [60], weights: [1] })],
    ['shape.mid_market_cap', shape('mid_price', { migration_supply_percentage: 20, mid_market_cap: 400 })],
    ['shape.migration_supply_percentage', shape('two_segments', { migration_supply_percentage: 1 })],
    ['shape.migration_supply_percentage', shape('two_segments', { migration_supply_percentage: 90 })],
    ['migrated_pool.compounding_fee_bps', { migrated_pool: { compounding_fee_bps: 5 } }],
    ['migrated_pool.compounding_fee_bps', { migrated_pool: { collect_fee_mode: 'compounding' } }],
    ['migrated_pool.collect_fee_mode', { ...COMPOUNDS, total_supply: '0.000008' }],
    [
      'migrated_pool.collect_fee_mode',
      {
        ...COMPOUNDS,
        total_supply: '0.002989',
        initial_market_cap: 1e-9,
        migration_market_cap: 2e-9,
        migration_fee: undefined,
      },
    ],
    ['migration_market_cap', { ...COMPOUNDS, initial_market_cap: 1e-9, migration_market_cap: 2e-9 }],
    ['migrated_pool.fee_schedule.ending_bps', schedule({ ending_bps: 100 })],
    ['migrated_pool.fee_schedule.price_multiple', schedule({ price_multiple: 1.0001 })],
    ['migrated_pool.fee_schedule.duration_seconds', schedule({ duration_seconds: 0 })],
    ['liquidity', liquidity({})],
    ['liquidity.partner_vesting.duration_seconds', liquidity({ partner_vesting: { ...vesting, periods: 7 } })],
    ['liquidity.partner_vesting.duration_seconds', liquidity({ partner_vesting: { ...vesting, cliff_seconds: 7e7 } })],
    ['liquidity.creator_vesting.periods', liquidity({ creator_vesting: { ...vesting, cliff_bps: 9_999 } })],
    [
      'liquidity.partner_locked',
      liquidity({ partner: 80, partner_locked: 0, partner_vesting: { ...vesting, duration_seconds: 10 } }),
    ],
  ]
  for (const [param, changes] of REFUSED) {
    it(`is refused for ${param}: ${JSON.stringify(changes)}`, async () => {
      const refusal = { code: 'bad_request', param, message: expect.stringContaining(param) }
      await expect(buildCurve(presetWith(changes))).rejects.toMatchObject(refusal)
    })
  }
})
