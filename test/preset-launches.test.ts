/** Launches of presets that say more: other quotes, Token-2022, receivers of their own, sponsors; from request to record. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { decodeWireTransaction } from '../src/solana/messages.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { CURVE, IMAGE, keysIn, landOn, settlePools } from './support/launches.ts'
import { type Limits, startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { putBadge, putMint, putTokens, QUOTES, type QuoteMint } from './support/quotes.ts'
import { temporaryFolder } from './support/service.ts'
import { addressOf, SOL } from './support/wallets.ts'

const RICH: Limits = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}
const lacking = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id))
const [DOLLARS, , WITH_FEE] = QUOTES as [QuoteMint, QuoteMint, QuoteMint]
/** No wallet's address: nobody has its key. */
const VAULT = 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'

const dollars = {
  ...CURVE,
  quote_mint: DOLLARS.mint,
  quote_decimals: 6,
  initial_market_cap: 5_000,
  migration_market_cap: 69_000,
}
const PRESETS = {
  dollars,
  wrong: { ...dollars, quote_decimals: 8 },
  badge: { ...dollars, quote_mint: WITH_FEE.mint },
  token2022: { ...CURVE, token_program: 'token2022' },
  vault: { ...CURVE, allow_programs: true, fee_claimer: VAULT, leftover_receiver: VAULT },
  unsaid: { ...CURVE, fee_claimer: VAULT },
  shared: { ...CURVE, allow_programs: true, fee_claimer: VAULT, shared_config: true },
  paid: { ...CURVE, pool_creation_fee: 1 },
}

async function setting(limits: Limits | null = RICH) {
  const presets = join(temporaryFolder(), 'presets.json')
  writeFileSync(presets, JSON.stringify(PRESETS))
  const service = await startPlatform(limits, { settings: { 'pools.presets': presets } })
  const chain = await service.services.chain.local()
  const [creator, sponsor] = [Keypair.generate(), Keypair.generate()]
  for (const key of [creator, sponsor]) chain.airdrop(addressOf(key), 100n * SOL)
  for (const quote of QUOTES) putMint(chain, quote)
  putTokens(chain, DOLLARS, { owner: creator, amount: 10n ** 9n })
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE }
  const post = (more: object = {}) => service.request('POST', '/v2/pools', { body: { ...body, ...more } })
  /** Signs with every key at hand, and sends. */
  const land = (transactions: string[], required: Record<string, number[]> = {}) => {
    const all = [creator, sponsor, ...keysIn(required)]
    for (const text of transactions) landOn(chain, text, all)
  }
  const settle = () => settlePools(service)
  const get = async (path: string) => (await service.request('GET', path)).json
  const refusal = async (more: object) => {
    const { status, json } = await post(more)
    return [status, json.error?.param, json.error?.message]
  }
  return { ...service, chain, creator, sponsor, post, land, settle, get, refusal }
}

describe.skipIf(lacking.length > 0)('a launch of a preset with more settings', () => {
  it('in dollars is bought with dollars, and recorded and read in them', async () => {
    const { post, land, settle, get, request, creator } = await setting()
    const { data } = (await post({ preset: 'dollars', buy_amount: 250.5 })).json
    expect(data.pool.quote_mint).toBe(DOLLARS.mint)
    land(data.transactions, data.required_signers)
    await settle()
    const pool = (await get(`/v2/pools/${data.pool.address}`)).data
    expect(pool).toMatchObject({ status: 'live', quote_mint: DOLLARS.mint })
    const metrics = (await get(`/v2/pools/${data.pool.address}/fee-metrics`)).data
    // A hundredth is the fee, a fifth of which is Meteora's.
    expect(metrics.partner_quote_fee).toBe(String((250_500_000 * 8) / 1_000))
    const swap = await request('POST', `/v2/pools/${data.pool.address}/swaps`, {
      body: { payer: addressOf(creator), side: 'buy', amount: '1000000' },
    })
    expect(swap.json.data).toMatchObject({ amount_in: '1000000', fee: '10000' })
    land([swap.json.data.tx.transaction])
    expect((await get('/v2/pool-presets')).data.find(({ name }: { name: string }) => name === 'dollars')).toMatchObject(
      {
        quote_mint: DOLLARS.mint,
        quote_decimals: 6,
        initial_price: '0.000005',
        shape: { kind: 'market_cap' },
      },
    )
  })

  it('is refused if the chain or the request contradicts the preset', async () => {
    const { refusal, sponsor } = await setting()
    const says = (text: string) => expect.stringContaining(text)
    expect(await refusal({ preset: 'wrong' })).toEqual([400, 'preset', says('has 6 decimals')])
    expect(await refusal({ preset: 'badge' })).toEqual([400, 'preset', says('token badge')])
    expect(await refusal({ preset: 'dollars', buy_amount: 1_000.1 })).toEqual([400, 'buy_amount', says('holds')])
    expect(await refusal({ preset: 'dollars', buy_amount: 0.0000001 })).toEqual([400, 'buy_amount', says('at most 6')])
    for (const preset of ['dollars', 'token2022']) {
      expect(await refusal({ preset, type: 'damm_v2' })).toEqual([400, 'preset', says('type dbc')])
    }
    expect(await refusal({ type: 'damm_v2', payer: addressOf(sponsor) })).toEqual([400, 'payer', says('type dbc')])
    const { wallet, refusal: refused } = await setting()
    const signed = { mode: 'signed', creator: addressOf(wallet), payer: addressOf(sponsor) }
    expect(await refused(signed)).toEqual([400, 'payer', says('leave payer out')])
  })

  it('in a quote that has a badge of Meteora names the badge', async () => {
    const { post, chain } = await setting()
    const badge = await putBadge(chain, WITH_FEE)
    const { data } = (await post({ preset: 'badge' })).json
    const keys = data.transactions.flatMap((text: string) => {
      return decodeWireTransaction(Buffer.from(text, 'base64')).message.keys
    })
    expect([data.pool.quote_mint, keys]).toEqual([WITH_FEE.mint, expect.arrayContaining([badge])])
  })

  it('of a token with a transfer hook, made elsewhere, is read and named, and neither traded nor claimed', async () => {
    const { post, land, chain, get, request, creator } = await setting()
    const { data } = (await post({ preset: 'token2022', buy_amount: 1 })).json
    land(data.transactions, data.required_signers)
    const { address: pool, config } = data.pool
    const plain = (await get(`/v2/pools/${pool}`)).data
    // As the program leaves them: the same content in accounts of other kinds, and the hook after the config.
    const hook = Keypair.generate().publicKey
    const [curve, settings] = [chain.account(pool)!, chain.account(config)!]
    const kind = (name: string) => createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)
    const withKind = (name: string, bytes: Uint8Array) => Buffer.concat([kind(name), bytes.subarray(8)])
    chain.setAccount(pool, { ...curve, data: withKind('TransferHookPool', curve.data) })
    const hooked = Buffer.concat([settings.data, hook.toBuffer(), Buffer.alloc(48)])
    chain.setAccount(config, { ...settings, data: withKind('ConfigWithTransferHook', hooked) })
    const read = (await get(`/v2/pools/${pool}`)).data
    const state = { ...plain.state, transfer_hook: hook.toBase58() }
    expect(read).toEqual({ ...plain, state, fee_metrics: { ...plain.fee_metrics, raw: state } })
    const refused = { code: 'bad_request', message: expect.stringContaining(`calls the program ${hook.toBase58()}`) }
    const swap = { payer: addressOf(creator), side: 'buy', amount: '1000000' }
    expect((await request('POST', `/v2/pools/${pool}/swaps`, { body: swap })).json.error).toMatchObject(refused)
    const claim = { payer: addressOf(creator) }
    expect((await request('POST', `/v2/pools/${pool}/fee-claims`, { body: claim })).json.error).toMatchObject(refused)
  })

  it('of a Token-2022 token is live like any other', async () => {
    const { post, land, settle, get } = await setting()
    const { data } = (await post({ preset: 'token2022', buy_amount: 1 })).json
    land(data.transactions, data.required_signers)
    await settle()
    expect((await get(`/v2/pools/${data.pool.address}`)).data).toMatchObject({ status: 'live', symbol: 'MTK' })
    expect((await get(`/v2/tokens/${data.pool.base_mint}`)).data).toMatchObject({
      status: 'fully_immutable',
      raw: { token_program: 'token2022', metadata: { name: 'My Token' } },
    })
  })

  it('names claimers and recipients, including a vault', async () => {
    const { post, land, settle, get } = await setting()
    const { data } = (await post({ preset: 'vault' })).json
    land(data.transactions, data.required_signers)
    await settle()
    const { config } = (await get(`/v2/pools/${data.pool.address}`)).data.state
    expect(config).toMatchObject({ feeClaimer: VAULT, leftoverReceiver: VAULT })
  })

  it('is refused for a vault that is not declared as one, and for a creator that is not a wallet', async () => {
    const { post } = await setting()
    const refused = async (body: object) => (await post(body)).json.error
    const { param, message, details } = await refused({ preset: 'unsaid' })
    expect([param, details.reason]).toEqual(['preset', 'off_curve'])
    expect(message).toContain(`preset: its fee_claimer ${VAULT} is an address of a program`)
    const creator = '1nc1nerator11111111111111111111111111111111'
    expect(await refused({ preset: 'vault', creator })).toMatchObject({
      param: 'creator',
      details: { reason: 'program_owned' },
    })
  })

  it('over a shared config uses the one of its own fee claimer', async () => {
    const { post, land, settle, get, request, sponsor, wallet } = await setting()
    const built = await request('POST', '/v2/pool-presets/shared/shared-config', {
      body: { payer: addressOf(sponsor) },
    })
    land([built.json.data.transaction])
    const { data } = (await post({ preset: 'shared', payer: addressOf(sponsor), buy_amount: 1 })).json
    expect(data.transactions).toHaveLength(1)
    land(data.transactions, data.required_signers)
    await settle()
    const { state } = (await get(`/v2/pools/${data.pool.address}`)).data
    expect(state.config).toMatchObject({ feeClaimer: VAULT, leftoverReceiver: addressOf(wallet) })
  })

  for (const tx_version of [0, 1]) {
    it(`that is sponsored costs its creator only the first buy, in version ${tx_version}`, async () => {
      const { post, land, chain, creator, sponsor } = await setting()
      const { data } = (await post({ preset: 'paid', payer: addressOf(sponsor), buy_amount: 2, tx_version })).json
      expect([data.payer, data.pool.creator]).toEqual([addressOf(sponsor), addressOf(creator)])
      const held = (key: Keypair) => chain.account(addressOf(key))!.lamports
      const before = [creator, sponsor].map(held)
      land(data.transactions, data.required_signers)
      const [paid, sponsored] = [creator, sponsor].map((key, i) => before[i]! - held(key))
      expect(paid).toBe(2n * SOL)
      expect(sponsored).toBeGreaterThan(SOL)
      expect(sponsored).toBeLessThan(SOL + SOL / 20n)
    })
  }
})
