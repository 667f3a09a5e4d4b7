/** Rehearsals of launches: what they leave as it was, and that the launch which follows does the same to the lamport. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ComputeBudgetProgram, Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { PoolRehearsal, TransactionForecast } from '../src/api/index.ts'
import { readDammV2Pool } from '../src/chain/programs/damm-v2/index.ts'
import { buildMigrationStep, migratedPoolAddress, migrationStep, readDbcPool } from '../src/chain/programs/dbc/index.ts'
import { isVersion1 } from '../src/solana/messages.ts'
import { readTokenAccount } from '../src/solana/token-accounts.ts'
import { TINY_CURVE } from './support/launches.ts'
import { SOL } from './support/local-chain.ts'
import { web3Over } from './support/node.ts'
import {
  addressOf,
  type ChainAndNode,
  IMAGE,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
} from './support/pool-platform.ts'
import { putMint, putTokens, QUOTES, USDC } from './support/quotes.ts'
import { inSoak } from './support/runs.ts'
import { signV1 } from './support/version1.ts'
import { keypairOf, signWith } from './support/wallets.ts'

const FLAT = {
  ...TINY_CURVE,
  liquidity: { partner: 20, partner_locked: 30, creator: 20, creator_locked: 30 },
  creator_fee_percentage: 37,
}
const RICH_PRESET = {
  ...FLAT,
  token_program: 'token2022',
  leftover: '1000',
  first_swap_min_fee: true,
  pool_creation_fee: 0.01,
  migration_fee: { percentage: 10, creator_percentage: 40 },
}
const IN_USDC = { ...FLAT, quote_mint: USDC, quote_decimals: 6, initial_market_cap: 100, migration_market_cap: 300 }
const VESTED = { ...FLAT, locked_vesting: { amount: '100000', periods: 10, duration_seconds: 1_000 } }

describe.skipIf(lackingPrograms.length > 0)(`a rehearsal (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  const [creator, buyer, sponsor] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const asked: string[] = []

  beforeAll(async () => {
    base = await openChainAndNode()
    for (const key of [creator, buyer, sponsor]) base.chain.airdrop(addressOf(key), 1_000n * SOL)
    putMint(base.chain, QUOTES[0]!)
    for (const owner of [creator, buyer]) putTokens(base.chain, QUOTES[0]!, { owner, amount: 1_000n * SOL })
    base.clock.advance(1_000)
  })
  afterAll(() => base?.close())

  async function platform(settings: Record<string, unknown> = {}): Promise<Platform> {
    const presets = join(base.folder(), 'presets.json')
    writeFileSync(presets, JSON.stringify({ flat: FLAT, vested: VESTED, rich: RICH_PRESET, usdc: IN_USDC }))
    const around = (send: typeof fetch): typeof fetch => {
      return async (url, init) => {
        asked.push(JSON.parse(String(init?.body)).method)
        return send(url, init)
      }
    }
    const fixed = { 'priority-fee': 'none', 'pools.presets': presets, 'pools.preset': 'flat' }
    const opened = await openPlatform(base, { settings: { ...fixed, ...settings }, around })
    onTestFinished(() => opened.close())
    return opened
  }

  const body = (more: object = {}) => ({
    creator: addressOf(creator),
    name: 'My Token',
    symbol: 'MTK',
    image: IMAGE,
    buy_amount: 0.05,
    ...more,
  })
  async function rehearse({ request }: Platform, more: object = {}): Promise<PoolRehearsal> {
    const { status, json } = await request('POST', '/v2/pool-rehearsals', { body: body(more) })
    expect([status, json.error]).toEqual([200, undefined])
    return json.data
  }
  const land = (text: string, keys: readonly Keypair[]) => {
    const wire = Buffer.from(text, 'base64')
    const landed = base.chain.send(isVersion1(wire) ? signV1(wire, keys) : Buffer.from(signWith(text, keys), 'base64'))
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    base.clock.advance(1_000)
    return landed
  }
  const lamports = (key: Keypair) => base.chain.account(addressOf(key))?.lamports ?? 0n
  const held = (address: string) => readTokenAccount(base.chain.account(address)!)!.amount
  const holding = (key: Keypair, mint: string) =>
    [...base.chain.tokenAccountsOf(addressOf(key))]
      .map(([, account]) => readTokenAccount(account)!)
      .reduce((sum, token) => (token.mint === mint ? sum + token.amount : sum), 0n)
  const ofParty = ({ books }: PoolRehearsal, party: string) => {
    const { sol, base } = books.find((book) => book.party === party) ?? { sol: '0', base: '0' }
    return [BigInt(sol), BigInt(base)]
  }

  /** Every row of every table, but for the marks of the requests themselves. */
  async function dump({ services }: Platform): Promise<string> {
    const db = services.store.db as never as {
      introspection: { getTables(): Promise<{ name: string }[]> }
      selectFrom(table: string): { selectAll(): { execute(): Promise<object[]> } }
    }
    const tables = (await db.introspection.getTables()).map(({ name }) => name).toSorted()
    expect(tables.length).toBeGreaterThan(20)
    const rows: string[] = []
    for (const table of tables.filter((name) => name !== 'rate_hits')) {
      for (const row of await db.selectFrom(table).selectAll().execute()) {
        const kept = Object.entries(row).filter(([column]) => column !== 'last_used_at')
        rows.push(`${table} ${JSON.stringify(kept, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`)
      }
    }
    return rows.toSorted().join('\n')
  }
  const chainNow = () => {
    const { slot: _, unixTimestamp: __, ...status } = base.chain.status()
    return [status.transactionCount, status.accountCount, lamports(creator), lamports(base.wallet)]
  }

  /** The launch and all that the rehearsal did, on the cluster and with real keys. */
  async function doIt(own: Platform, report: PoolRehearsal, more: object = {}) {
    const { json } = await own.request('POST', '/v2/pools', { body: body(more) })
    expect(json.error).toBeUndefined()
    const { pool, transactions, required_signers: keys } = json.data
    const launchKeys = Object.values(keys as Record<string, number[]>).flatMap((key) =>
      key.length > 0 ? [keypairOf(key)] : [],
    )
    for (const text of transactions) land(text, [creator, sponsor, ...launchKeys])
    const launched = lamports(creator) + lamports(sponsor)
    const connection = web3Over(own.services.chain)
    const swap = async (address: string, side: string, amount: bigint) => {
      const asked = { payer: addressOf(buyer), side, amount: String(amount), slippage_bps: 10_000 }
      const { json } = await own.request('POST', `/v2/pools/${address}/swaps`, { body: asked })
      expect(json.error).toBeUndefined()
      land(json.data.tx.transaction, [buyer])
    }
    const claim = async ({ claim: what }: PoolRehearsal['steps'][number]) => {
      const payer = what!.beneficiary === 'creator' ? creator : base.wallet
      const { address } = pool
      const { json } = await own.request('POST', `/v2/pools/${address}/fee-claims`, {
        body: { ...what, payer: addressOf(payer) },
      })
      expect([what, json.error]).toEqual([what, undefined])
      land(json.data.tx.transaction, [payer])
    }
    const claims = report.steps.filter(({ stage, status }) => stage === 'claim' && status === 'done')
    const isEarly = ({ claim }: (typeof claims)[number]) => claim!.kind === 'dbc'
    let market = pool.address as string
    if (pool.type === 'dbc') {
      await swap(pool.address, 'buy', 100n * SOL)
      for (const step of claims.filter(isEarly)) await claim(step)
      for (;;) {
        const curve = (await readDbcPool(connection, pool.address))!
        market = await migratedPoolAddress(curve)
        if (migrationStep(curve) === 'done') break
        const { blockhash: recentBlockhash } = await connection.getLatestBlockhash()
        const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 })]
        const built = await buildMigrationStep({ payer: addressOf(base.wallet), recentBlockhash, before, pool: curve })
        land(Buffer.from(built.transaction).toString('base64'), [
          base.wallet,
          ...built.secretKeys.map((key) => Keypair.fromSecretKey(key)),
        ])
      }
    }
    if (pool.type === 'damm_v2') {
      const presets = (await own.request('GET', '/v2/pool-presets')).json.data
      const { migration_threshold } = presets.find(({ is_default }: { is_default: boolean }) => is_default)
      await swap(market, 'buy', BigInt(migration_threshold))
    }
    await swap(market, 'sell', holding(buyer, pool.base_mint) / 10n)
    for (const step of claims.filter((step) => !isEarly(step) && step.claim!.kind !== 'vesting')) await claim(step)
    base.clock.advance(1_001_000)
    for (const step of claims.filter(({ claim }) => claim!.kind === 'vesting')) await claim(step)
    return { pool, launched, market: (await readDammV2Pool(connection, market))! }
  }

  it('leaves the database and the cluster unchanged, and only reads from the node', async () => {
    const own = await platform()
    const [before, chain] = [await dump(own), chainNow()]
    asked.length = 0
    const report = await rehearse(own)
    expect(report.steps.slice(0, 3).map(({ status }) => status)).toEqual(['done', 'done', 'done'])
    const { json } = await own.request('POST', '/v2/pool-rehearsals', {
      body: body(),
      headers: { 'idempotency-key': 'once' },
    })
    expect(json.error).toBeUndefined()
    expect(await dump(own)).toBe(before)
    expect(chainNow()).toEqual(chain)
    expect([...new Set(asked)].toSorted()).toEqual(['getAgGenesisCert', 'getGenesisHash', 'getMultipleAccounts'])
  })

  /** A launch as it is built, with what its transactions are forecast to cost. */
  async function forecast(own: Platform, more: object = {}) {
    const { json } = await own.request('POST', '/v2/pools', { body: body(more) })
    expect(json.error).toBeUndefined()
    const asked = await own.request('POST', '/v2/transaction-forecasts', {
      body: { transactions: json.data.transactions },
    })
    expect(asked.status, asked.text).toBe(200)
    return { created: json.data, forecast: asked.json.data as TransactionForecast }
  }

  const FORECAST: [string, object][] = [
    ['of two transactions', { symbol: 'FA' }],
    ['of one transaction of version 1', { symbol: 'FB', tx_version: 1 }],
    ['that a sponsor pays', { symbol: 'FC', payer: addressOf(sponsor) }],
    ['with a fee of its preset', { symbol: 'FD', preset: 'rich' }],
    ['against another token', { symbol: 'FE', preset: 'usdc', buy_amount: 2 }],
    ['of a damm_v2 pool', { symbol: 'FF', type: 'damm_v2' }],
  ]
  const FORECAST_SAMPLE = ['of two transactions', 'that a sponsor pays', 'against another token']

  it.each(FORECAST.filter(([name]) => inSoak || FORECAST_SAMPLE.includes(name)))(
    'the forecast of a launch %s is what it pays, to the lamport',
    { tags: 'sampled' },
    async (_, more) => {
      const own = await platform({ 'priority-fee': '20000' })
      const { created, forecast: told } = await forecast(own, more)
      const wallets = [creator, sponsor]
      const [before, quotes] = [wallets.map(lamports), holding(creator, USDC)]
      const keys = Object.values(created.required_signers as Record<string, number[]>)
      for (const text of created.transactions) {
        land(text, [...wallets, ...keys.filter(({ length }) => length > 0).map(keypairOf)])
      }
      const paid = (mint: string | null, amount: bigint, key: Keypair, has: bigint) =>
        amount <= 0n
          ? []
          : [
              {
                wallet: addressOf(key),
                mint,
                decimals: mint && 6,
                amount: `${amount}`,
                held: `${has}`,
                needed: expect.any(String),
              },
            ]
      const payments = [
        ...wallets.flatMap((key, i) => paid(null, before[i]! - lamports(key), key, before[i]!)),
        ...paid(USDC, quotes - holding(creator, USDC), creator, quotes),
      ]
      expect(told).toMatchObject({ failed: null, exact: true })
      const byWallet = (a: { wallet: string }, b: { wallet: string }) => (a.wallet < b.wallet ? -1 : 1)
      expect(told.payments.toSorted(byWallet)).toEqual(payments.toSorted(byWallet))
    },
  )

  it('the forecast of a launch says what a poor wallet lacks, with which the launch then succeeds', async () => {
    const own = await platform()
    const poor = Keypair.generate()
    const none = await forecast(own, { creator: addressOf(poor), symbol: 'PA' })
    expect(none.forecast).toMatchObject({
      failed: null,
      payments: [{ wallet: addressOf(poor), mint: null, held: '0' }],
    })
    // Enough for the first transaction, and for all but a lamport.
    const { amount, needed } = none.forecast.payments[0]!
    expect(BigInt(needed)).toBeGreaterThan(BigInt(amount))
    base.chain.airdrop(addressOf(poor), BigInt(amount) - 1n)
    base.clock.advance(1_000)
    const short = await forecast(own, { creator: addressOf(poor), symbol: 'PB' })
    const rest = BigInt(needed) - BigInt(amount) + 1n
    expect(short.forecast.payments).toMatchObject([{ amount, needed, held: `${BigInt(amount) - 1n}` }])
    base.chain.airdrop(addressOf(poor), rest)
    base.clock.advance(1_000)
    const { created, forecast: enough } = await forecast(own, { creator: addressOf(poor), symbol: 'PC' })
    expect(enough.payments).toMatchObject([{ amount, needed, held: needed }])
    const keys = Object.values(created.required_signers as Record<string, number[]>)
    for (const text of created.transactions) {
      land(text, [poor, ...keys.filter(({ length }) => length > 0).map(keypairOf)])
    }
  })

  it('the forecast of a launch without cached programs has the part that is known, and says so', async () => {
    const own = await platform({ 'programs-dir': base.folder() })
    const { forecast: told } = await forecast(own, { symbol: 'KA' })
    const { amount, needed, held } = told.payments[0]!
    expect([told.exact, held, needed]).toEqual([false, String(lamports(creator)), amount])
    // The first transaction, and the buy and the fee of the second.
    expect(BigInt(amount)).toBeGreaterThan(54_000_000n)
  })

  const EQUAL = [
    ['of version 0', { symbol: 'VA' }, ['partner dbc', 'creator dbc', 'partner damm_v2', 'creator damm_v2']],
    ['of version 1', { symbol: 'VB', tx_version: 1 }, ['partner dbc', 'creator dbc']],
    ['with vested tokens', { symbol: 'VC', preset: 'vested' }, ['creator dbc', 'creator vesting']],
    ['without a first buy', { symbol: 'VD', buy_amount: 0 }, ['partner dbc', 'creator dbc']],
    ['that a sponsor pays', { symbol: 'VE', payer: addressOf(sponsor) }, ['partner dbc', 'creator dbc']],
    [
      'with all that a preset pays out',
      { symbol: 'VF', preset: 'rich' },
      ['partner migration_fee', 'creator migration_fee', 'partner leftover', 'partner pool_creation_fee'],
    ],
    ['against another token', { symbol: 'VG', preset: 'usdc', buy_amount: 2 }, ['partner dbc', 'creator dbc']],
    ['of a damm_v2 pool', { symbol: 'VH', type: 'damm_v2' }, ['creator damm_v2']],
  ] as const
  /** Of the others each does a part of these again. */
  const SAMPLE = ['of version 1', 'with all that a preset pays out', 'of a damm_v2 pool']

  it.each(EQUAL.filter(([name]) => inSoak || SAMPLE.includes(name)))(
    '%s equals the launch that follows, to the lamport',
    { tags: 'sampled' },
    async (_, more, claimed) => {
      const own = await platform()
      const report = await rehearse(own, more)
      expect([report.succeeded, report.steps.filter(({ status }) => status === 'failed')]).toEqual([true, []])
      const done = report.steps.flatMap(({ claim, status }) =>
        claim && status === 'done' ? [`${claim.beneficiary} ${claim.kind}`] : [],
      )
      expect(done).toEqual(expect.arrayContaining([...claimed]))
      const parties = { creator, partner: base.wallet, buyer, payer: sponsor }
      const holdings = (mint: string) => Object.values(parties).map((key) => holding(key, mint))
      const [before, quotes] = [Object.values(parties).map(lamports), holdings(USDC)]
      const from = base.landed.length
      const { pool, launched, market } = await doIt(own, report, more)
      const changes = Object.values(parties).map((key, i) => lamports(key) - before[i]!)
      const [tokens, quoted] = [holdings(pool.base_mint), holdings(USDC)]
      for (const [i, party] of Object.keys(parties).entries()) {
        const book = report.books.find(({ roles }) => roles.includes(party as 'creator'))
        const isOther = party === 'payer' && !('payer' in more)
        if (isOther || (party === 'partner' && pool.type === 'damm_v2')) continue
        const told = [BigInt(book!.sol), BigInt(book!.quote ?? 0), BigInt(book!.base)]
        expect([party, told]).toEqual([party, [changes[i], quoted[i]! - quotes[i]!, tokens[i]]])
      }
      expect(BigInt(report.cost.total)).toBe(before[0]! + before[3]! - launched)
      const fees = base.landed.slice(from).reduce((sum, { fee }) => sum + fee, 0n)
      expect(ofParty(report, 'network')).toEqual([fees, 0n])
      for (const column of ['sol', 'quote', 'base'] as const) {
        expect(report.books.reduce((sum, book) => sum + BigInt(book[column] ?? 0), 0n)).toBe(0n)
      }
      if (pool.type === 'damm_v2' || report.quote.mint === USDC) return
      // The protocol's part is in the vaults of both.
      const curve = (await readDbcPool(web3Over(own.services.chain), pool.address))!
      const vaults = [held(curve.quoteVault) + market.tokenBAmount, held(curve.baseVault) + market.tokenAAmount]
      const inVaults = ['curve', 'pool', 'protocol'].map((party) => ofParty(report, party))
      expect(inVaults.reduce((sum, [sol]) => sum + sol!, 0n)).toBe(vaults[0])
      expect(inVaults.reduce((sum, [, base]) => sum + base!, 0n)).toBe(vaults[1])
    },
  )
})
