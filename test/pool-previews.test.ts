/** GET /v2/pool-presets/{name}/preview, and the trial of a preset before its first launch on a cluster. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCurve } from '../src/chain/programs/dbc/index.ts'
import { rehearseLaunch, requireTakenPreset, validatePreset } from '../src/operations/pools/preset-rehearsals.ts'
import { curveNamed } from '../src/operations/pools/presets.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { lacksDbc } from './support/dbc.ts'
import { keysIn, landOn } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { addressOf, type ChainAndNode, IMAGE, openChainAndNode, openPlatform } from './support/pool-platform.ts'
import { hasInstruction, PROGRAMS_DIR } from './support/programs.ts'
import { putBadge, putMint, QUOTES } from './support/quotes.ts'
import { inSoak } from './support/runs.ts'
import { temporaryFolder } from './support/service.ts'
import { keypairOf, SOL, signWith, walletOn } from './support/wallets.ts'

const AT = '/v2/pool-presets/standard/preview'

describe('a preview', () => {
  it('refuses what it cannot compute, naming the parameter', async () => {
    const { request } = await startPlatform(null)
    const faults = [
      ['buy=-1', 'buy'],
      ['buy=1e3', 'buy'],
      ['buy=0.0000000001', 'buy'],
      ['buy=99999999999', 'buy'],
      ['points=0', 'points'],
      ['points=101', 'points'],
      ['points=x', 'points'],
      ['after=-1', 'after'],
      ['steps=3', 'steps'],
    ]
    for (const [query, param] of faults) {
      const { status, json } = await request('GET', `${AT}?${query}`)
      expect([query, status, json.error.param]).toEqual([query, 400, param])
    }
    const { status, json } = await request('GET', '/v2/pool-presets/none/preview')
    expect([status, json.error.param]).toEqual([404, 'name'])
  })

  it('without programs in the cache has the curve and no cost, and says that the node was not asked', async () => {
    const { request } = await startPlatform(null, { settings: { 'programs-dir': '/nonexistent' } })
    const { data } = (await request('GET', `${AT}?points=4`)).json
    expect(data.points.map(({ at }: { at: string }) => at)).toEqual(['start', 'curve', 'curve', 'curve', 'end'])
    expect(data.cost).toBeNull()
    expect(data.validation).toMatchObject({ status: 'unknown', program_sha256: null })
    expect(data.validation.reason).not.toBeNull()
  })
})

describe.skipIf(lacksDbc)('a preview of a preset (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  it.each([0, 0.5])('with a first buy of %d SOL equals what the launch then takes, to the lamport', async (buy) => {
    const { request, services } = await startPlatform(null)
    const { chain, wallet: creator } = await walletOn(services)
    const { data } = (await request('GET', `${AT}?buy=${buy}&points=5`)).json
    expect(data.validation).toMatchObject({ status: 'accepted', by: 'embedded_chain', reason: null })
    const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, buy_amount: buy }
    const launch = (await request('POST', '/v2/pools', { body })).json.data
    const keys = [creator, ...keysIn(launch.required_signers)]
    let fees = 0n
    for (const text of launch.transactions) fees += landOn(chain, text, keys).fee
    const { cost } = data
    expect(BigInt(cost.network_fee)).toBe(fees)
    expect(100n * SOL - chain.account(addressOf(creator))!.lamports).toBe(BigInt(cost.total))
    const parts = [cost.rent, cost.metadata_fee, cost.pool_creation_fee, cost.network_fee, cost.first_buy].map(BigInt)
    expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(BigInt(cost.total))
    expect([cost.transactions, cost.tx_version]).toEqual([launch.transactions.length, 0])
    const pool = (await request('GET', `/v2/pools/${launch.pool.address}`)).json.data
    const point = data.points[buy === 0 ? 0 : 1]
    expect(point.at).toBe(buy === 0 ? 'start' : 'first_buy')
    expect(pool.state.pool.poolState.quoteReserve).toBe(point.quote_reserve)
    expect(pool.state.pool.poolState.sqrtPrice).toBe(point.sqrt_price)
  })

  it.skipIf(!inSoak)(
    'works with another quote and a Token-2022 token, at the fee of the first buy',
    { tags: 'sampled' },
    async () => {
      const presets = join(temporaryFolder(), 'presets.json')
      const preset = {
        total_supply: '1000000',
        decimals: 6,
        token_program: 'token2022',
        quote_mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
        quote_decimals: 6,
        initial_market_cap: 5_000,
        migration_market_cap: 50_000,
        fee: { starting_bps: 5_000, ending_bps: 100, periods: 10, duration_seconds: 600 },
        first_swap_min_fee: true,
        pool_creation_fee: 0.01,
        migration_fee: { percentage: 5, creator_percentage: 40 },
        leftover: '1',
        liquidity: { partner: 50, partner_locked: 50 },
      }
      writeFileSync(presets, JSON.stringify({ usdc: preset }))
      const { request } = await startPlatform(null, { settings: { 'pools.presets': presets } })
      const { data } = (await request('GET', '/v2/pool-presets/usdc/preview?buy=100&points=4&after=600')).json
      expect(data).toMatchObject({ quote_decimals: 6, buy: '100000000', validation: { status: 'accepted' } })
      // The least fee, a hundredth, in spite of the schedule.
      expect(data.points[0].fee_bps).toBe(100)
      expect(data.points[1]).toMatchObject({ at: 'first_buy', quote_reserve: '99000000', fee_bps: 100 })
      const { cost, migration } = data
      const parts = [cost.rent, cost.metadata_fee, cost.pool_creation_fee, cost.network_fee].map(BigInt)
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(BigInt(cost.total))
      expect([cost.first_buy, cost.pool_creation_fee, cost.metadata_fee]).toEqual(['0', '10000000', '0'])
      const fee = BigInt(migration.migration_fee.creator) + BigInt(migration.migration_fee.partner)
      expect(fee).toBe((BigInt(data.threshold) * 5n) / 100n)
      expect(BigInt(migration.leftover_base)).toBeGreaterThanOrEqual(1_000_000n)
    },
  )

  it.each(['spl', 'token2022'])('of a token of %s says what each byte of its texts costs', async (token_program) => {
    const presets = join(temporaryFolder(), 'presets.json')
    const preset = {
      ...{ total_supply: '1000000', decimals: 6, token_program, initial_market_cap: 1, migration_market_cap: 3 },
      ...{ fee: { starting_bps: 100, ending_bps: 100 }, liquidity: { partner: 50, partner_locked: 50 } },
    }
    writeFileSync(presets, JSON.stringify({ mine: preset }))
    const settings = { 'pools.presets': presets, 'pools.preset': 'mine' }
    const { request, services } = await startPlatform(null, { settings })
    const { cost } = (await request('GET', '/v2/pool-presets/mine/preview')).json.data
    const { chain, wallet: creator } = await walletOn(services, 10n * SOL)
    const body = { creator: addressOf(creator), name: 'A', symbol: 'AB', image: IMAGE }
    const { status, json, text } = await request('POST', '/v2/pools', { body })
    expect(status, text).toBe(201)
    const { pool, transactions, required_signers } = json.data
    const keys = Object.values<number[]>(required_signers).map(keypairOf)
    for (const transaction of transactions) {
      const landed = chain.send(Buffer.from(signWith(transaction, [creator, ...keys]), 'base64'))
      expect(landed.err, landed.logs?.join('\n')).toBeNull()
    }
    const bytes = BigInt(`AAB${pool.metadata_uri}`.length - cost.text_bytes)
    const paid = 10n * SOL - (chain.account(addressOf(creator))?.lamports ?? 0n)
    expect(transactions).toHaveLength(cost.transactions)
    expect(paid).toBe(BigInt(cost.total) + bytes * BigInt(cost.text_byte_rent))
    expect(cost.text_byte_rent === '0').toBe(token_program === 'spl')
  })

  describe('on another cluster than the embedded chain', () => {
    let world: ChainAndNode
    beforeAll(async () => {
      world = await openChainAndNode()
    })
    afterAll(() => world.close())

    const bodyOf = (creator: Keypair) => ({
      creator: addressOf(creator),
      name: 'My Token',
      symbol: 'MTK',
      image: IMAGE,
      preset: 'tiny',
    })

    it('is checked in memory before its first launch, once', async ({ annotate }) => {
      const { services, request, logged } = await openPlatform(world, { settings: { 'programs-dir': PROGRAMS_DIR } })
      const named = await curveNamed(services.config, 'tiny')
      const times: number[] = []
      for (let run = 0; run < 2; run++) {
        const begun = process.hrtime.bigint()
        await requireTakenPreset(services, named, addressOf(world.wallet))
        times.push(Number(process.hrtime.bigint() - begun) / 1e6)
      }
      await annotate(`first ${times[0]!.toFixed()} ms, then ${times[1]!.toFixed(1)} ms`, 'time')
      expect((await request('POST', '/v2/pools', { body: bodyOf(world.wallet) })).status).toBe(201)
      expect(logged.filter(({ message }) => message.includes('without a rehearsal'))).toEqual([])
      expect(await validatePreset(services, named, null)).toMatchObject({ status: 'accepted', by: 'embedded_chain' })
    })

    it('is refused with the name of the preset and the message of the program', async () => {
      const { services } = await openPlatform(world, { settings: { 'programs-dir': PROGRAMS_DIR } })
      const { preset, curve } = await curveNamed(services.config, 'tiny')
      // The supply has nothing left for the liquidity of a curve that is a little longer.
      const parameters = { ...curve.parameters, creatorTradingFeePercentage: 101 }
      const named = { name: 'broken', preset, curve: { ...curve, parameters } }
      const refused = { code: 'bad_request', param: 'preset', details: expect.objectContaining({ status: 'refused' }) }
      await expect(requireTakenPreset(services, named, addressOf(world.wallet))).rejects.toMatchObject(refused)
      await expect(requireTakenPreset(services, named, addressOf(world.wallet))).rejects.toThrow(
        /The program refuses the preset broken \(run in memory\): InvalidCreatorTradingFeePercentage/,
      )
      expect((await rehearseLaunch(services, named, 0n))?.cost).toBeNull()
    })

    it('in a quote with a badge is accepted, and not judged by a program of the cache that knows no badges', async () => {
      const { services } = await openPlatform(world, { settings: { 'programs-dir': PROGRAMS_DIR } })
      const { preset } = await curveNamed(services.config, 'tiny')
      putMint(world.chain, QUOTES[2]!)
      await putBadge(world.chain, QUOTES[2]!)
      const badged = { ...preset, quote_mint: QUOTES[2]!.mint, quote_decimals: QUOTES[2]!.decimals }
      const named = { name: 'badged', preset: badged, curve: await buildCurve(badged) }
      const knowsBadges = hasInstruction(PROGRAMS.dbc.id, 'CreateTokenBadge')
      expect(await validatePreset(services, named, null)).toMatchObject(
        knowsBadges
          ? { status: 'accepted' }
          : { status: 'unknown', reason: expect.stringContaining('InvalidQuoteMint') },
      )
    })

    it.skipIf(!inSoak)(
      'is checked at the node if the cache lacks the program; a failed check is logged',
      { tags: 'sampled' },
      async () => {
        const { services, logged } = await openPlatform(world, { settings: { 'programs-dir': '/nonexistent' } })
        const { preset, curve } = await curveNamed(services.config, 'tiny')
        const payer = addressOf(world.wallet)
        expect(await validatePreset(services, { name: 'tiny', preset, curve }, payer)).toMatchObject({
          status: 'accepted',
          by: 'node',
          program_sha256: null,
        })
        const parameters = { ...curve.parameters, creatorTradingFeePercentage: 101 }
        const broken = { name: 'broken', preset, curve: { ...curve, parameters } }
        await expect(requireTakenPreset(services, broken, payer)).rejects.toMatchObject({
          param: 'preset',
          message: expect.stringContaining('(at the RPC node): InvalidCreatorTradingFeePercentage'),
        })
        const poor = addressOf(Keypair.generate())
        await requireTakenPreset(services, { name: 'untried', preset, curve: { ...curve } }, poor)
        expect(logged.filter(({ level }) => level === 'warn')).toEqual([
          expect.objectContaining({ message: expect.stringContaining('is used without a rehearsal') }),
        ])
      },
    )

    it.skipIf(!inSoak)(
      'passes with an older or broken program in the cache once the node has accepted it',
      { tags: 'sampled' },
      async () => {
        const folder = temporaryFolder()
        for (const id of [
          'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN',
          'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s',
        ]) {
          writeFileSync(join(folder, `${id}.so`), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3]))
        }
        const { services } = await openPlatform(world, { settings: { 'programs-dir': folder } })
        const named = await curveNamed(services.config, 'tiny')
        expect(await validatePreset(services, named, addressOf(world.wallet))).toMatchObject({
          status: 'accepted',
          by: 'node',
        })
      },
    )
  })
})
