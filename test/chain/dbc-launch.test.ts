/** Launches by the real programs: what is on chain is what the preset says, in as few transactions as fit. */
import { ComputeBudgetProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildConfig,
  buildCurve,
  buildDbcLaunch,
  buildWholeDbcLaunch,
  DBC_LAUNCH_UNITS,
  dbcPoolAddress,
  readDbcPool,
  readDbcPools,
} from '../../src/chain/programs/dbc/index.ts'
import { readTokenState } from '../../src/chain/programs/tokens/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  addressOf,
  CONFIG,
  CREATOR,
  KEEPER,
  LOCKED,
  lacksDbc,
  launchOf,
  MINT,
  openDbcChain,
  PARTNER,
  presetWith,
  TRADER,
} from '../support/dbc.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'

const LONGEST = { name: 'N'.repeat(20), symbol: 'S'.repeat(10), uri: `https://${'u'.repeat(112)}` }
const TIP = { account: addressOf(goldenKey(31)), lamports: 1_000_000n }
const PRICE = 1_000n
const sizes = (built: readonly { transaction: Uint8Array }[]) => built.map(({ transaction }) => transaction.length)

describe('a launch', () => {
  it('is one transaction without a first buy, with the longest texts and a price for its units', async ({
    annotate,
  }) => {
    const built = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, { ...LONGEST, computeUnitPrice: PRICE }))
    expect(built.map(({ requiredSigners }) => requiredSigners)).toEqual([[CREATOR, CONFIG, MINT].map(addressOf)])
    expect(sizes(built)).toEqual([1_193])
    await annotate(`whole, longest texts, price: ${sizes(built)} bytes`, 'size')
  })

  it('is two transactions if a tip leaves no room, and the tip is in the last', async ({ annotate }) => {
    const built = await buildDbcLaunch(
      await launchOf(GOLDEN_BLOCKHASH, { ...LONGEST, tip: TIP, computeUnitPrice: PRICE }),
    )
    expect(built.map(({ requiredSigners }) => requiredSigners)).toEqual([
      [CREATOR, CONFIG].map(addressOf),
      [CREATOR, MINT].map(addressOf),
    ])
    await annotate(`config, pool with tip: ${sizes(built)} bytes`, 'size')
    const keys = built.map(({ transaction }) => decodeWireTransaction(transaction).message.keys)
    expect(keys.map((each) => each.includes(TIP.account))).toEqual([false, true])
    const short = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, { tip: TIP }))
    expect(short.length).toBe(1)
  })

  it('is two transactions with a first buy: the config, then the pool with the buy', async ({ annotate }) => {
    const wishes = { ...LONGEST, buyLamports: SOL, tip: TIP, computeUnitPrice: PRICE }
    const built = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, wishes))
    expect(built.length).toBe(2)
    expect(Math.max(...sizes(built))).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    await annotate(`config, pool with buy and tip, longest texts: ${sizes(built)} bytes`, 'size')
  })

  it('is refused if the texts do not fit even so', async () => {
    const launch = await launchOf(GOLDEN_BLOCKHASH, { ...LONGEST, uri: 'u'.repeat(700) })
    await expect(buildDbcLaunch(launch)).rejects.toMatchObject({ code: 'bad_request' })
  })

  for (const [name, wishes] of Object.entries({
    whole: {},
    'with-buy': { buyLamports: SOL, tip: TIP, computeUnitPrice: PRICE },
    split: { ...LONGEST, tip: TIP, computeUnitPrice: PRICE },
  })) {
    it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${name}`, async ({ annotate }) => {
      const built = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, wishes))
      for (const [i, { transaction }] of built.entries()) {
        const bytes = await expectGolden(`dbc-launch-${name}-${i + 1}`, transaction, async () => {
          const { test, chain, land } = await openDbcChain()
          chain.airdrop(TIP.account, SOL)
          for (const earlier of built.slice(0, i)) expect(land(earlier)).toBeNull()
          return test
        })
        await annotate(`${name} ${i + 1}: ${bytes} bytes`, 'size')
      }
    })
  }
})

describe('a launch in one transaction', () => {
  const wholeOf = async (wishes: object, messageConfig?: typeof GOLDEN_CONFIG) => {
    const { tip: _, computeUnitPrice: __, ...content } = await launchOf(GOLDEN_BLOCKHASH, wishes)
    return buildWholeDbcLaunch({ ...content, payer: addressOf(CREATOR), messageConfig })
  }

  it('of version 1 has room for the longest texts, a buy and a config of its own', async ({ annotate }) => {
    const uri = `https://${'u'.repeat(192)}`
    const { transaction, requiredSigners } = await wholeOf({ ...LONGEST, uri, buyLamports: SOL }, GOLDEN_CONFIG)
    expect(requiredSigners.toSorted()).toEqual([CREATOR, CONFIG, MINT].map(addressOf).toSorted())
    await annotate(`whole, longest texts: ${transaction.length} bytes`, 'size')
    await expect(wholeOf({ ...LONGEST, uri, buyLamports: SOL })).rejects.toThrow('tx_version 1')
  })

  it('needs no key of the config if the config is shared', async () => {
    for (const config of [undefined, GOLDEN_CONFIG]) {
      const { requiredSigners } = await wholeOf({ buyLamports: SOL, isConfigShared: true }, config)
      expect(requiredSigners).toEqual([CREATOR, MINT].map(addressOf))
    }
  })

  for (const [name, wishes, config] of [
    ['v1', { buyLamports: SOL }, GOLDEN_CONFIG],
    ['v1-longest', { ...LONGEST, buyLamports: SOL }, GOLDEN_CONFIG],
    ['v1-plain', {}, GOLDEN_CONFIG],
    ['shared', { buyLamports: SOL, isConfigShared: true }, undefined],
    ['v1-shared', { buyLamports: SOL, isConfigShared: true }, GOLDEN_CONFIG],
  ] as const) {
    it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${name}`, async ({ annotate }) => {
      const { transaction } = await wholeOf(wishes, config)
      const bytes = await expectGolden(`dbc-launch-${name}`, transaction, async () => {
        const { test, land } = await openDbcChain()
        if ('isConfigShared' in wishes) {
          const { curve, ...launch } = await launchOf(GOLDEN_BLOCKHASH)
          expect(land(await buildConfig({ ...launch, curve, payer: addressOf(CREATOR) }))).toBeNull()
        }
        return test
      })
      await annotate(`${name}: ${bytes} bytes`, 'size')
    })
  }
})

describe.skipIf(lacksDbc)('a launch on chain (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  for (const [what, changes] of Object.entries({
    'as it is by default': {},
    'with everything set': {
      total_supply: '500000000.5',
      decimals: 9,
      fee: { schedule: 'exponential', starting_bps: 5_000, ending_bps: 100, periods: 60, duration_seconds: 3_600 },
      creator_fee_percentage: 25,
      migration_fee_bps: 400,
      locked_vesting: { ...LOCKED, cliff_amount: '50', cliff_seconds: 86_400 },
      liquidity: { partner: 30, partner_locked: 40, creator: 20, creator_locked: 10 },
    },
  })) {
    it(`is what its preset says, ${what}`, async () => {
      const opened = await openDbcChain()
      const preset = presetWith(changes)
      const curve = await buildCurve(preset)
      const pool = await opened.launch({ curve })
      const locked = preset.locked_vesting !== undefined
      expect(pool).toMatchObject({
        address: await dbcPoolAddress({ mint: addressOf(MINT), config: addressOf(CONFIG) }),
        config: addressOf(CONFIG),
        creator: addressOf(CREATOR),
        baseMint: addressOf(MINT),
        quoteMint: 'So11111111111111111111111111111111111111112',
        baseProgram: 'spl',
        decimals: preset.decimals,
        quoteReserve: 0n,
        threshold: curve.thresholdLamports,
        totalSupply: curve.totalSupply,
        sqrtPrice: curve.startSqrtPrice,
        price: curve.initialPrice,
        isMigrated: false,
        migrationProgress: 0,
        finishedAt: null,
        feeClaimer: addressOf(PARTNER),
        leftoverReceiver: addressOf(PARTNER),
        migrationOption: 1,
        migrationFeeOption: [25, 30, 100, 200, 400, 600].indexOf(preset.migration_fee_bps),
        surplus: { claimable: 0n, withdrawn: false },
        hasVesting: locked,
        activatedAt: expect.any(Number),
        swapShowsInstructions: false,
      })
      expect(JSON.parse(JSON.stringify(pool.raw))).toEqual(pool.raw)
      expect(pool.raw.config).toMatchObject({
        partnerLiquidityPercentage: preset.liquidity.partner,
        partnerPermanentLockedLiquidityPercentage: preset.liquidity.partner_locked,
        creatorLiquidityPercentage: preset.liquidity.creator,
        creatorPermanentLockedLiquidityPercentage: preset.liquidity.creator_locked,
        creatorTradingFeePercentage: preset.creator_fee_percentage,
        poolFees: { baseFee: { cliffFeeNumerator: String(preset.fee.starting_bps * 100_000) } },
        collectFeeMode: 0,
        tokenUpdateAuthority: 1,
        migrationQuoteThreshold: String(curve.thresholdLamports),
      })
      const token = await readTokenState(opened.connection, pool.baseMint)
      expect(token).toMatchObject({
        supply: curve.totalSupply,
        decimals: preset.decimals,
        mintAuthority: null,
        freezeAuthority: null,
        metadata: { name: 'Test Coin', symbol: 'TST', uri: 'https://example.com/coin.json', isMutable: false },
      })
      expect(opened.tokens(pool.baseVault)).toBe(curve.totalSupply)
    })
  }

  it('gives the creator the first buy and the tip account its tip', async ({ annotate }) => {
    const opened = await openDbcChain()
    const { chain, lamports, held, land } = opened
    const launch = await launchOf(chain.latestBlockhash().blockhash, { buyLamports: SOL, tip: TIP })
    const built = await buildDbcLaunch(launch)
    expect(land(built[0]!)).toBeNull()
    const config = opened.units
    const before = lamports(launch.creator)
    expect(land(built[1]!)).toBeNull()
    await annotate(`config ${config}, pool with buy ${opened.units}`, 'units')
    expect(config).toBeLessThan(DBC_LAUNCH_UNITS.config)
    expect(opened.units).toBeLessThan(DBC_LAUNCH_UNITS.poolAndBuy)
    const pool = await opened.read(await dbcPoolAddress(launch))
    expect(lamports(TIP.account)).toBe(TIP.lamports)
    // A hundredth is the fee, a fifth of which is the program's own.
    expect(pool.quoteReserve).toBe((SOL * 99n) / 100n)
    expect(pool.partnerQuoteFee).toBe((SOL * 8n) / 1_000n)
    expect(held(pool, CREATOR)).toBe(10n ** 15n - opened.tokens(pool.baseVault))
    const rents = [pool.address, pool.baseVault, pool.quoteVault, pool.baseMint].map((each) =>
      chain.minimumBalance(chain.account(each)!.data.length),
    )
    const spent = before - lamports(launch.creator)
    // Pool, vaults and mint; then metadata with its fee, and the creator's own token account.
    const least = SOL + TIP.lamports + rents.reduce((sum, rent) => sum + rent, 0n)
    expect(spent).toBeGreaterThan(least)
    expect(spent).toBeLessThan(least + 20_000_000n)
  })

  it('accepts a first buy beyond the end of the curve, and the creator keeps the remainder', async () => {
    const opened = await openDbcChain()
    const before = opened.lamports(addressOf(CREATOR))
    const pool = await opened.launch({ buyLamports: 500n * SOL })
    expect(pool.quoteReserve).toBe(pool.threshold)
    const most = (pool.threshold * 100n) / 99n + SOL / 10n
    expect(before - opened.lamports(addressOf(CREATOR))).toBeLessThan(most)
  })

  it('reads many pools in their order, and null for addresses without a pool', async () => {
    const opened = await openDbcChain()
    const pool = await opened.launch()
    const strangers = [TRADER, KEEPER].map(addressOf)
    const others = [pool.config, pool.baseMint, pool.baseVault, ...strangers, addressOf(goldenKey(77))]
    const many = Array.from({ length: 150 }, (_, i) => (i % 50 === 7 ? pool.address : others[i % others.length]!))
    const read = await readDbcPools(opened.connection, many)
    expect(read.map((each) => each?.address ?? null)).toEqual(many.map((each) => (each === pool.address ? each : null)))
    expect(await readDbcPools(opened.connection, [])).toEqual([])
    const whole = opened.chain.account(pool.address)!
    opened.chain.setAccount(strangers[0]!, { ...whole, data: whole.data.slice(0, 100) })
    expect(await readDbcPool(opened.connection, strangers[0]!)).toBeNull()
  })

  it('stays within the limits of units in the requested compute budget', async () => {
    const { message } = decodeWireTransaction((await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH)))[0]!.transaction)
    const [limit] = message.instructions
    expect(message.keys[limit!.programIdIndex]).toBe(ComputeBudgetProgram.programId.toBase58())
    expect(Buffer.from(limit!.data).readUInt32LE(1)).toBe(DBC_LAUNCH_UNITS.whole)
  })
})
