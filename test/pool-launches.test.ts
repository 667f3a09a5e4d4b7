/** Launches beside the common way: other curves and families, other callers, wrong input, and what the chain alone knows. */

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readPositions } from '../src/chain/programs/damm-v2/index.ts'
import { followPools } from '../src/operations/pools/follow-pools.ts'
import { SYSTEM_PROGRAM } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { IMAGES } from './storage/images.ts'
import { CURVE, IMAGE, keysIn, settlePools } from './support/launches.ts'
import { type Limits, type PlatformService, sharedPlatform, startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from './support/rent.ts'
import { inSoak } from './support/runs.ts'
import { type ServiceOptions, startService, temporaryFolder } from './support/service.ts'
import { addressOf, SOL, signWith, walletOn } from './support/wallets.ts'

const RICH: Limits = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}
const lacking = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id))

/** Gives the platform a quarter of the position. */
const PARTED = {
  ...CURVE,
  platform_position_percentage: 25,
}

async function setting(options: ServiceOptions = {}, limits: Limits | null = RICH) {
  return settingOn(await startPlatform(limits, options))
}

async function settingOn(service: PlatformService) {
  const { chain, wallet: creator } = await walletOn(service.services)
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE }
  const post = (more: object = {}, headers = {}) =>
    service.request('POST', '/v2/pools', { body: { ...body, ...more }, headers })
  const settle = () => settlePools(service)
  const land = (transactions: string[], required: Record<string, number[]>, signer = creator) => {
    const keys = [signer, ...keysIn(required)]
    return transactions.map((text) => Buffer.from(signWith(text, keys), 'base64'))
  }
  const get = async (path: string) => (await service.request('GET', path)).json
  return { ...service, chain, creator, body, post, settle, land, get }
}

describe.skipIf(lacking.length > 0)('a launch', () => {
  it('without a first buy is one transaction', async () => {
    const { post, land, chain, settle, get } = await setting()
    const { data } = (await post()).json
    expect(data.transactions).toHaveLength(1)
    for (const raw of land(data.transactions, data.required_signers)) expect(chain.send(raw).err).toBeNull()
    await settle()
    expect((await get(`/v2/pools/${data.pool.address}`)).data).toMatchObject({ status: 'live', curve_progress: 0 })
  })

  it('is reported live once, by the chain; what a hint with an earlier transaction names is emitted with it', async () => {
    const { post, land, settle, get, request } = await setting()
    const { data } = (await post({ buy_amount: 1 })).json
    const { address: resource_id } = data.pool
    const [first, second] = land(data.transactions, data.required_signers)
    const submit = async (raw: Buffer, related_events: string[]) => {
      const tracked_resource = { resource_type: 'pool', resource_id, related_events }
      const body = { transaction: raw.toString('base64'), tracked_resource }
      expect((await request('POST', '/v2/transactions', { body })).status).toBe(200)
      await settle()
    }
    const told = async () =>
      (await get(`/v2/events?order=asc&resource_type=pool&resource_id=${resource_id}`)).data.map(
        ({ type, data }: { type: string; data: { object: { source?: string } } }) => `${type} ${data.object.source}`,
      )
    await submit(first!, ['pool.live', 'pool.migrated', 'pool.live'])
    expect(await told()).toEqual(['pool.created undefined'])
    expect((await get(`/v2/pools?creator=${data.pool.creator}`)).data[0].status).toBe('pending')
    await submit(second!, ['pool.live', 'pool.migrated'])
    expect(await told()).toEqual(['pool.created undefined', 'pool.live chain', 'pool.migrated hint'])
    const [, live, migrated] = (await get(`/v2/events?order=asc&resource_type=pool&resource_id=${resource_id}`)).data
    const { type, base_mint, creator } = data.pool
    const known = { resource_type: 'pool', resource_id, type, address: resource_id, base_mint, creator }
    for (const event of [live, migrated]) {
      const { signature } = live.data.object
      expect(event.data.object).toMatchObject({ ...known, status: 'live', signature })
    }
  })

  it('keeps the hint of its first transaction if the last one is sent past this service, and has one pool.live', async () => {
    const { post, land, settle, get, request, chain } = await setting()
    const { data } = (await post({ buy_amount: 1 })).json
    const { address: resource_id } = data.pool
    const [first, second] = land(data.transactions, data.required_signers)
    const tracked_resource = { resource_type: 'pool', resource_id, related_events: ['pool.live', 'pool.migrated'] }
    const body = { transaction: first!.toString('base64'), tracked_resource, externalUid: 'order-7' }
    expect((await request('POST', '/v2/transactions', { body })).status).toBe(200)
    await settle()
    expect(chain.send(second!).err).toBeNull()
    await settle()
    expect((await get(`/v2/pools/${resource_id}`)).data.status).toBe('live')
    await settle()
    const events = (await get(`/v2/events?order=asc&resource_type=pool&resource_id=${resource_id}`)).data
    expect(
      events.map(({ type, data: { object } }: { type: string; data: { object: { source?: string } } }) => [
        type,
        object.source,
      ]),
    ).toEqual([
      ['pool.created', undefined],
      ['pool.live', 'chain'],
      ['pool.migrated', 'hint'],
    ])
  })

  it('of a damm_v2 pool holds the whole supply, and is live once it is seen', async () => {
    const { post, land, chain, settle, get, request, creator } = await setting()
    const { data } = (await post({ type: 'damm_v2', buy_amount: 1.25 })).json
    expect(data.pool).toMatchObject({ type: 'damm_v2', config: null, status: 'pending' })
    expect(data.required_signers.config_secret_key).toEqual([])
    expect(data.required_signers.position_nft_secret_key).toHaveLength(64)
    const raws = land(data.transactions, data.required_signers)
    for (const raw of raws) expect(chain.send(raw).err).toBeNull()
    await settle()
    const read = (await get(`/v2/pools/${data.pool.address}`)).data
    expect(read).toMatchObject({ status: 'live', curve_progress: null, symbol: 'MTK' })
    expect((await get(`/v2/pools/${data.pool.address}/curve-progress`)).error.code).toBe('not_found')
    expect((await get(`/v2/pools/${data.pool.address}/fee-metrics`)).error.code).toBe('not_found')
    const claim = await request('POST', `/v2/pools/${data.pool.address}/fee-claims`, {
      body: { payer: addressOf(creator), kind: 'damm_v2' },
    })
    expect([claim.status, claim.json.error.message]).toEqual([400, expect.stringContaining('nothing to claim')])
  })

  it('of a damm_v2 pool is locked for good by default, and the answer says so', async () => {
    const { post, land, chain, services } = await setting()
    const lockedOf = async (more: object) => {
      const { data } = (await post({ type: 'damm_v2', ...more })).json
      for (const raw of land(data.transactions, data.required_signers)) expect(chain.send(raw).err).toBeNull()
      const [position] = await readPositions(services.chain, data.pool.address, data.pool.creator)
      return [data.lock_liquidity, data.platform_position_percentage, position!.unlockedLiquidity === 0n]
    }
    expect(await lockedOf({ symbol: 'AAA' })).toEqual([true, 0, true])
    expect(await lockedOf({ symbol: 'BBB', lock_liquidity: true, buy_amount: 1 })).toEqual([true, 0, true])
    expect(await lockedOf({ symbol: 'CCC', lock_liquidity: false })).toEqual([false, 0, false])
    const refused = await post({ symbol: 'DDD', lock_liquidity: false })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'lock_liquidity'])
    expect((await post({ symbol: 'DDD' })).json.data).not.toHaveProperty('lock_liquidity')
  })

  it('of a damm_v2 pool gives the platform the share of its preset, which a signed claim takes to the lamport', async () => {
    const presets = join(temporaryFolder(), 'presets.json')
    writeFileSync(presets, JSON.stringify({ parted: PARTED }))
    const { post, land, chain, settle, get, request, creator, wallet } = await setting({
      settings: { 'pools.presets': presets },
    })
    const unlocked = await post({ type: 'damm_v2', preset: 'parted', lock_liquidity: false })
    expect([unlocked.status, unlocked.json.error]).toMatchObject([400, { param: 'lock_liquidity' }])
    const own = await post({ type: 'damm_v2', preset: 'parted', creator: addressOf(wallet), symbol: 'OWN' })
    expect(own.json.data).toMatchObject({
      platform_position_percentage: 0,
      transactions: [{}, {}].map(() => expect.any(String)),
    })
    const { data } = (await post({ type: 'damm_v2', preset: 'parted', buy_amount: 1.5 })).json
    expect(data).toMatchObject({ lock_liquidity: true, platform_position_percentage: 25 })
    expect(data.required_signers.platform_position_nft_secret_key).toHaveLength(64)
    for (const raw of land(data.transactions, data.required_signers)) expect(chain.send(raw).err).toBeNull()
    await settle()
    const claims = `/v2/pools/${data.pool.address}/fee-claims`
    const body = { kind: 'damm_v2', payer: addressOf(wallet) }
    const unsigned = await request('POST', claims, { body })
    // A hundredth of the first buy, without the protocol's fifth; a quarter of that, which the program rounds down.
    const quote = 2_999_999n
    expect(unsigned.json.data).toMatchObject({ kind: 'damm_v2', estimated_quote: String(quote) })
    const before = chain.account(addressOf(wallet))!.lamports
    const signed = await request('POST', claims, { body: { ...body, mode: 'signed' } })
    expect([signed.status, signed.json.error]).toEqual([200, undefined])
    await settle()
    // The network's fee, and the wallet's own account of the token.
    expect(chain.account(addressOf(wallet))!.lamports - before).toBe(quote - 5_000n - TOKEN_ACCOUNT_RENT)
    expect((await get(claims)).data).toMatchObject([{ type: 'fee_claim.executed', pool_address: data.pool.address }])
    expect(addressOf(creator)).not.toBe(addressOf(wallet))
  })

  it('of a damm_v2 pool is claimed by a payer that lends nothing: a claimer without SOL learns how much it needs', async () => {
    const presets = join(temporaryFolder(), 'presets.json')
    writeFileSync(presets, JSON.stringify({ parted: PARTED }))
    const empty = Keypair.generate()
    const { post, land, chain, request, creator } = await setting(
      { settings: { 'pools.presets': presets, 'platform-wallet': addressOf(empty), signer: undefined } },
      null,
    )
    const { data } = (await post({ type: 'damm_v2', preset: 'parted', buy_amount: 1 })).json
    for (const raw of land(data.transactions, data.required_signers)) expect(chain.send(raw).err).toBeNull()
    const body = { kind: 'damm_v2', payer: addressOf(creator) }
    const poor = await request('POST', `/v2/pools/${data.pool.address}/fee-claims`, { body })
    expect([poor.status, poor.json.error]).toMatchObject([
      400,
      {
        param: 'payer',
        details: { claimer: addressOf(empty), lamports: '0', needed: String(2n * TOKEN_ACCOUNT_RENT) },
      },
    ])
    chain.airdrop(addressOf(empty), 2n * TOKEN_ACCOUNT_RENT)
    const claim = await request('POST', `/v2/pools/${data.pool.address}/fee-claims`, { body })
    const [raw] = land([claim.json.data.tx.transaction], { empty: [...empty.secretKey] })
    const before = chain.account(addressOf(creator))!.lamports
    expect(chain.send(raw!).err).toBeNull()
    expect(chain.account(addressOf(creator))!.lamports - before).toBe(-10_000n)
    const quote = BigInt(claim.json.data.estimated_quote)
    expect(chain.account(addressOf(empty))!.lamports).toBe(TOKEN_ACCOUNT_RENT + quote)
  })

  it('of the platform wallet is signed by the server, step by step, and replayed', async () => {
    const service = await setting()
    const { post, wallet, settle, get, chain, creator } = service
    const foreign = await post({ mode: 'signed' })
    expect([foreign.status, foreign.json.error.param]).toEqual([400, 'creator'])
    const body = { creator: addressOf(wallet), mode: 'signed', buy_amount: 0.25 }
    const asked = post(body, { 'idempotency-key': 'signed-launch' })
    const moving = setInterval(() => {
      chain.advance(1)
      service.clock.advance(5_000)
    }, 100)
    const created = await asked.finally(() => clearInterval(moving))
    expect(created.json).toMatchObject({
      data: { transactions: [], signatures: [expect.any(String), expect.any(String)] },
    })
    const { pool, signatures, required_signers } = created.json.data
    expect(required_signers).toEqual({ base_mint_secret_key: [], config_secret_key: [] })
    expect(signatures.map((signature: string) => chain.transaction(signature)?.err)).toEqual([null, null])
    await settle()
    const { created_at } = pool
    expect((await get(`/v2/pools/${pool.address}`)).data).toMatchObject({
      ...{ status: 'live', creator: addressOf(wallet), created_at },
    })
    const again = await post(body, { 'idempotency-key': 'signed-launch' })
    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', created.text])
    const types = (await get('/v2/events?order=asc')).data.map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type.startsWith('pool.'))).toEqual(['pool.created', 'pool.live'])
    const limited = await service.key({ scopes: ['fees:claim'] })
    const refused = await service.request('POST', '/v2/pools', {
      body: { ...service.body, mode: 'signed' },
      key: limited,
    })
    expect(refused.status).toBe(403)
    expect(addressOf(creator)).not.toBe(addressOf(wallet))
  })

  const POOR: [string, bigint][] = [
    ['has enough for the first transaction only', 20_000_000n],
    ['has as much as the launch pays, and too little for the rent that must stay', 271_000_000n],
    ['has nothing', 0n],
  ]
  it.each(inSoak ? POOR : POOR.slice(0, 1))(
    'of a platform wallet that %s is refused before anything is signed',
    { tags: 'sampled' },
    async (_, lamports) => {
      const { post, wallet, chain, get, services } = await setting()
      const own = addressOf(wallet)
      const empty = { owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
      await chain.setAccount(own, { ...empty, lamports })
      const sent = chain.status().transactionCount
      const { status, json } = await post({ creator: own, mode: 'signed', buy_amount: 0.25 })
      expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'creator'])
      expect(json.error.message).toMatch(/ has [\d.]+ SOL, and all 2 transactions need [\d.]+ SOL: nothing was signed/)
      const { details } = json.error
      expect(details).toMatchObject({ reason: 'insufficient_funds', wallet: own, mint: null, held: String(lamports) })
      expect([chain.status().transactionCount, chain.account(own)?.lamports ?? 0n]).toEqual([sent, lamports])
      expect((await get('/v2/pools')).data).toEqual([])
      expect(await services.store.db.selectFrom('signings').selectAll().execute()).toEqual([])
      // With what it says is missing, the same launch passes the check.
      chain.airdrop(own, BigInt(details.needed) - lamports)
      const moving = setInterval(() => chain.advance(1), 50)
      const paid = await post({ creator: own, mode: 'signed', buy_amount: 0.25 }).finally(() => clearInterval(moving))
      expect([paid.status, paid.json.error]).toEqual([201, undefined])
    },
  )

  it('whose second transaction the policy refuses is refused before the first is signed', async () => {
    const { post, wallet, chain, get, services, request } = await setting()
    const own = addressOf(wallet)
    const policy = async (changes: object) =>
      expect((await request('PATCH', '/v2/signer/policy', { body: changes })).status).toBe(200)
    await policy({ lamports_per_transaction: '200000000', lamports_per_day: '100000000000' })
    const [sent, held] = [chain.status().transactionCount, chain.account(own)?.lamports]
    const launch = { creator: own, mode: 'signed', buy_amount: 0.25 }
    const refused = await post(launch)
    expect([refused.status, refused.json.error.details.rule]).toEqual([400, 'lamports_per_transaction'])
    // Together they leave more in a day than the limit, though each alone does not.
    await policy({ lamports_per_transaction: '100000000000', lamports_per_day: '270000000' })
    expect((await post(launch)).json.error.details.rule).toBe('lamports_per_day')
    expect([chain.status().transactionCount, chain.account(own)?.lamports]).toEqual([sent, held])
    expect((await get('/v2/pools')).data).toEqual([])
    expect(await services.store.db.selectFrom('signings').selectAll().execute()).toEqual([])
  })

  it.skipIf(!inSoak)(
    'of a damm_v2 pool of the platform wallet is signed by the server, and its new tokens need no limit',
    { tags: 'sampled' },
    async () => {
      const service = await setting()
      const { post, wallet, settle, get, chain } = service
      const moving = setInterval(() => {
        chain.advance(1)
        service.clock.advance(5_000)
      }, 100)
      const created = await post({ creator: addressOf(wallet), mode: 'signed', type: 'damm_v2' }).finally(() =>
        clearInterval(moving),
      )
      expect([created.status, created.json.error]).toEqual([201, undefined])
      const { pool, signatures } = created.json.data
      expect(signatures.map((signature: string) => chain.transaction(signature)?.err)).toEqual([null, null])
      await settle()
      expect((await get(`/v2/pools/${pool.address}`)).data).toMatchObject({ status: 'live', type: 'damm_v2' })
    },
  )

  it.skipIf(!inSoak)(
    'of a damm_v2 pool of the signer, shared with another platform wallet, is signed with every key',
    { tags: 'sampled' },
    async () => {
      const presets = join(temporaryFolder(), 'presets.json')
      writeFileSync(presets, JSON.stringify({ parted: PARTED }))
      const settings = { 'pools.presets': presets, 'platform-wallet': addressOf(Keypair.generate()) }
      const { post, wallet, settle, get, chain, clock } = await setting({ settings })
      const moving = setInterval(() => {
        chain.advance(1)
        clock.advance(5_000)
      }, 100)
      const body = { creator: addressOf(wallet), mode: 'signed', type: 'damm_v2', preset: 'parted' }
      const created = await post(body).finally(() => clearInterval(moving))
      expect([created.status, created.json.error]).toEqual([201, undefined])
      const { pool, platform_position_percentage, required_signers } = created.json.data
      expect([platform_position_percentage, Object.values(required_signers).flat()]).toEqual([25, []])
      await settle()
      expect((await get(`/v2/pools/${pool.address}`)).data).toMatchObject({ status: 'live', type: 'damm_v2' })
    },
  )

  it('accepts a form with the image as a file', async () => {
    const { app, body, operator } = await setting()
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...body, buy_amount: '0', image: undefined })) {
      if (value !== undefined) form.set(name, value)
    }
    form.set('image', new File([new Uint8Array(IMAGES.png)], 'x.png', { type: 'image/png' }))
    const request = new Request('http://svc.test/v2/pools', {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${operator}` },
    })
    expect((await app.fetch(request)).status).toBe(201)
  })

  it('accepts a form with empty optional fields, and an image as a data URL', async () => {
    const { app, body, operator } = await setting()
    const send = async (more: Record<string, string>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ ...body, ...more })) form.set(name, String(value))
      const headers = { authorization: `Bearer ${operator}` }
      const answer = await app.fetch(new Request('http://svc.test/v2/pools', { method: 'POST', body: form, headers }))
      return { status: answer.status, json: JSON.parse(await answer.text()) }
    }
    const inputs = 'type payer description buy_amount website twitter_url telegram loot_from preset lock_liquidity'
    const empty = Object.fromEntries(
      [...inputs.split(' '), 'mode', 'externalUid', 'metadata', 'dry_run', 'tx_version'].map((name) => [name, '']),
    )
    const png = Buffer.from(IMAGES.png).toString('base64')
    const jpeg = await send({ ...empty, image: `data:image/jpeg;base64,${png}` })
    expect([jpeg.status, jpeg.json.error?.param]).toEqual([400, 'image'])
    expect(jpeg.json.error.message).toContain('declares image/jpeg, but the image is image/png')
    const nameless = await send({ ...empty, name: '' })
    expect([nameless.status, nameless.json.error.message]).toEqual([400, 'name: is required'])
    const taken = await send({ ...empty, image: `data:image/png;base64,${png}`, website: 'http://example.com' })
    expect([taken.status, taken.json.error]).toEqual([201, undefined])
    expect(taken.json.data.warnings).toEqual([expect.stringMatching(/^website: http:.* is http/)])
  })

  const refusing = sharedPlatform(RICH)
  it.each([
    [{ image: Buffer.from('<svg/>').toString('base64') }, 'image', 'PNG, JPEG, GIF or WebP'],
    [{ buy_amount: 0.0000000001 }, 'buy_amount', 'nine fractional digits|9 fractional digits'],
    [{ preset: 'nobody' }, 'preset', 'there are standard'],
    [{ name: 'Über' }, 'name', 'letters'],
    [{ symbol: 'TOOLONGSYMBOL' }, 'symbol', 'letters'],
  ])('is refused for %j, naming the field', async (more, param, message) => {
    const { post, get } = await settingOn(await refusing())
    const { status, json } = await post(more)
    expect([status, json.error.param]).toEqual([400, param])
    expect(json.error.message).toMatch(new RegExp(message))
    expect((await get('/v2/pools')).data).toEqual([])
  })

  it('that is only built takes no ticker, in whatever case', async () => {
    const { post } = await setting()
    const other = () => ({ creator: addressOf(Keypair.generate()) })
    const answers = await Promise.all(['MTK', 'mtk', 'Mtk', 'mTK'].map((symbol) => post({ symbol, ...other() })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  })

  it('that is submitted has its ticker for a day', async () => {
    const { post, land, request, clock, chain, services } = await setting()
    const other = () => ({ creator: addressOf(Keypair.generate()) })
    const { data } = (await post()).json
    for (const raw of land(data.transactions, data.required_signers)) {
      expect(
        (await request('POST', '/v2/transactions', { body: { transaction: raw.toString('base64') } })).status,
      ).toBe(200)
      chain.advance(2)
    }
    clock.advance(5_000)
    await followPools(services)
    const refused = await post({ symbol: 'mtk', ...other() })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'symbol'])
    expect(refused.json.error.message).toContain(`is taken by the pool ${data.pool.address}`)
    clock.advance(24 * 3_600_000 - 5_001)
    expect((await post(other())).status).toBe(400)
    clock.advance(1)
    expect((await post(other())).status).toBe(201)
  })

  it('that never lands fails after half an hour', async () => {
    const { post, clock, services, get } = await setting()
    const { address: pool } = (await post()).json.data.pool
    const status = async () => {
      await followPools(services)
      return (await get(`/v2/pools/${pool}`)).data.status
    }
    clock.advance(31 * 60_000)
    expect(await status()).toBe('pending')
    clock.advance(60_000 + 5_000)
    expect(await status()).toBe('failed')
    expect((await get('/v2/events?type=pool.failed')).data).toMatchObject([{ data: { object: { resource_id: pool } } }])
  })

  it('that was only previewed can be built again by its creator at once, but not after its submission', async () => {
    const { post, land, request } = await setting()
    expect((await post()).status).toBe(201)
    const { data } = (await post()).json
    const [raw] = land(data.transactions, data.required_signers)
    const body = { transaction: raw!.toString('base64'), tracked_resource: data.tracked_resource }
    expect((await request('POST', '/v2/transactions', { body })).status).toBe(200)
    const refused = await post()
    expect([refused.status, refused.json.error.param]).toEqual([400, 'symbol'])
  })

  it.each(['dbc', 'damm_v2'] as const)('of a %s pool has the mint whose key the caller has, once', async (type) => {
    const { post, land, chain, settle, get, creator } = await setting()
    const mintKey = Keypair.generate()
    const base_mint = addressOf(mintKey)
    const ask = (more: object = {}) => post({ type, base_mint, buy_amount: 0.5, ...more })
    const { status, json } = await ask()
    const { data } = json
    expect([status, data.pool.base_mint, data.required_signers.base_mint_secret_key]).toEqual([201, base_mint, []])
    const keys = { ...data.required_signers, base_mint_secret_key: [...mintKey.secretKey] }
    for (const raw of land(data.transactions, keys)) expect(chain.send(raw).err).toBeNull()
    await settle()
    expect((await get(`/v2/pools/${data.pool.address}`)).data).toMatchObject({ status: 'live', base_mint })

    const refusals = await Promise.all([
      ask({ symbol: 'TWO' }),
      ask({ symbol: 'TWO', base_mint: addressOf(creator) }),
      ask({ symbol: 'TWO', base_mint: data.pool.address }),
      ask({ symbol: 'TWO', base_mint: addressOf(Keypair.generate()), mode: 'signed' }),
    ])
    expect(refusals.map(({ status, json }) => `${status} ${json.error.param}: ${json.error.message}`)).toEqual([
      expect.stringContaining(`400 base_mint: base_mint: an account exists at ${base_mint} already`),
      expect.stringContaining('400 base_mint: base_mint must not be a wallet that pays or signs'),
      expect.stringContaining(`400 base_mint: base_mint ${data.pool.address} has no key that could sign`),
      expect.stringContaining('400 base_mint: base_mint: base_mint is only valid with mode unsigned'),
    ])
  })

  it.each(['dbc', 'damm_v2'] as const)(
    'of a chosen mint in a %s pool is built again until it is submitted',
    async (type) => {
      const { post, land, request, settle, get } = await setting()
      const mintKey = Keypair.generate()
      const ask = (more: object) => post({ type, base_mint: addressOf(mintKey), buy_amount: 0.5, ...more })
      const first = (await ask({ name: 'First' })).json.data
      const stranger = await ask({ creator: addressOf(Keypair.generate()), buy_amount: 0 })
      const { data } = (await ask({ name: 'Second' })).json
      // A pool without a config of its own has the same address, which stays its creator's.
      const isSame = type === 'damm_v2'
      expect([data.pool.address === first.pool.address, stranger.status]).toEqual([isSame, isSame ? 400 : 201])
      expect(data.pool).toMatchObject({ name: 'Second', status: 'pending' })
      const keys = { ...data.required_signers, base_mint_secret_key: [...mintKey.secretKey] }
      const raws = land(data.transactions, keys)
      for (const [i, raw] of raws.entries()) {
        const { status, text } = await request('POST', '/v2/transactions', {
          body: { transaction: raw.toString('base64') },
        })
        expect(status, text).toBe(200)
        if (i > 0) continue
        const again = await ask({ symbol: 'OTHER' })
        const why = isSame ? 'an account exists' : `the pool ${data.pool.address} of the mint`
        expect([again.status, again.json.error.message]).toEqual([400, expect.stringContaining(`base_mint: ${why}`)])
      }
      await settle()
      const { address: resource_id } = data.pool
      expect((await get(`/v2/pools/${resource_id}`)).data).toMatchObject({ name: 'Second', status: 'live' })
      const events = (await get(`/v2/events?order=asc&resource_type=pool&resource_id=${resource_id}`)).data
      expect(events.map((each: { type: string }) => each.type)).toEqual(['pool.created', 'pool.live'])
    },
  )

  it('that was given up but lands is live, and followed again', async () => {
    const { post, land, chain, clock, services, get, request } = await setting()
    const { data } = (await post()).json
    clock.advance(33 * 60_000)
    await followPools(services)
    expect((await get(`/v2/pools/${data.pool.address}`)).data.status).toBe('failed')
    for (const raw of land(data.transactions, data.required_signers)) expect(chain.send(raw).err).toBeNull()
    const verified = await request('POST', `/v2/pools/${data.pool.address}/verifications`, { body: {} })
    expect(verified.json.data).toMatchObject({ verified: true, pool: { status: 'live' } })
    const row = await services.store.db.selectFrom('pools').select('next_check_at').executeTakeFirst()
    expect(row!.next_check_at).not.toBeNull()
    const types = (await get('/v2/events?order=asc')).data.map(({ type }: { type: string }) => type)
    expect(types).toEqual(['pool.created', 'pool.failed', 'pool.live'])
  })

  it.skipIf(!inSoak)(
    'is verified by the legacy flow, which submits its transactions',
    { tags: 'sampled' },
    async () => {
      const { post, land, request, chain } = await setting()
      const { data } = (await post({ buy_amount: 0.1 })).json
      const at = `/v2/pools/${data.pool.address}/verifications`
      expect((await request('POST', at, { body: {} })).json.data).toMatchObject({
        verified: false,
        pool: { status: 'pending' },
      })
      const transactions = land(data.transactions, data.required_signers).map((raw) => raw.toString('base64'))
      const unsigned = await request('POST', at, { body: { transactions: data.transactions } })
      expect([unsigned.status, unsigned.json.error.param]).toEqual([400, 'transactions.0'])
      const first = await request('POST', at, { body: { transactions } })
      expect(first.status).toBe(200)
      chain.advance(3)
      const verified = await request('POST', at, { body: {} })
      expect(verified.json.data).toMatchObject({ verified: true, pool: { status: 'live' } })
      expect((await request('POST', at, { body: { transactions } })).json.data).toMatchObject({ verified: true })
    },
  )

  it('of another daemon is read from the chain alone', async () => {
    const one = await setting()
    const { data } = (await one.post({ buy_amount: 0.1 })).json
    for (const raw of one.land(data.transactions, data.required_signers)) expect(one.chain.send(raw).err).toBeNull()
    await one.services.store.write((tx) => tx.deleteFrom('pools').execute())
    const read = (await one.get(`/v2/pools/${data.pool.address}`)).data
    expect(read).toMatchObject({
      type: 'dbc',
      address: data.pool.address,
      base_mint: data.pool.base_mint,
      creator: addressOf(one.creator),
      name: 'My Token',
      symbol: 'MTK',
      status: 'live',
      created_at: null,
    })
    expect((await one.get(`/v2/pools/${addressOf(one.creator)}`)).error.code).toBe('not_found')
    const verified = await one.request('POST', `/v2/pools/${data.pool.address}/verifications`, { body: {} })
    expect(verified.json.data.verified).toBe(true)
  })

  it('is refused if moderation rejects its image, with the category', async () => {
    const server = createServer((_, response) => {
      const categories = { violence: true, sexual: false }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ results: [{ flagged: true, categories, category_scores: {} }] }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { post, get } = await setting({
      settings: { moderation: 'openai', 'moderation-url': url, 'moderation-key': 'sk-test' },
    })
    const { status, json } = await post()
    expect([status, json.error.param]).toEqual([400, 'image'])
    expect(json.error.message).toContain('violence')
    expect((await get('/v2/pools')).data).toEqual([])
  })

  it('states the market cap at migration in dollars, once there is a price', async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"SOL":"150.5"}}'),
    )
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { post, land, chain, get } = await setting({ settings: { 'price-url': url, 'price-field': 'data.SOL' } })
    const { data } = (await post()).json
    for (const raw of land(data.transactions, data.required_signers)) chain.send(raw)
    const { migration_market_cap_usd } = (await get(`/v2/pools/${data.pool.address}/curve-progress`)).data
    expect(migration_market_cap_usd).toBeCloseTo(400 * 150.5, 0)
  })

  it('carries the tip in its last transaction if a relay is set', async () => {
    const { post } = await setting({ settings: { 'relay-url': 'http://127.0.0.1:9', 'relay-tip': 12_345 } })
    const { data } = (await post({ buy_amount: 0.1 })).json
    const [first, last] = data.transactions.map((text: string) =>
      VersionedTransaction.deserialize(Buffer.from(text, 'base64')).message.staticAccountKeys.map(String),
    )
    expect([first.includes(data.relay_tip_account), last.includes(data.relay_tip_account)]).toEqual([false, true])
  })
})

describe('presets', () => {
  it('are listed with their curve, and an invalid one is reported with file, name and field', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'presets.json')
    const steep = {
      total_supply: '1000000',
      decimals: 9,
      initial_market_cap: 5,
      migration_market_cap: 50,
      fee: { starting_bps: 500, ending_bps: 100, periods: 10, duration_seconds: 600 },
      liquidity: { partner: 40, partner_locked: 40, creator: 10, creator_locked: 10 },
    }
    writeFileSync(file, JSON.stringify({ steep }))
    const { request } = await startService({ settings: { 'pools.presets': file, 'pools.preset': 'steep' } })
    const { data, meta } = (await request('GET', '/v2/pool-presets')).json
    expect(meta).toMatchObject({ has_more: false, next_cursor: null, count: 2 })
    const first = (await request('GET', '/v2/pool-presets?limit=1')).json
    const second = (await request('GET', `/v2/pool-presets?limit=1&cursor=${first.meta.next_cursor}`)).json
    expect([...first.data, ...second.data, second.meta.has_more]).toEqual([...data, false])
    expect(data.map(({ name, is_default }: { name: string; is_default: boolean }) => [name, is_default])).toEqual([
      ['standard', false],
      ['steep', true],
    ])
    expect(data[1]).toMatchObject({ ...steep, initial_price: '0.000005', migration_price: '0.00005' })
    expect(BigInt(data[1].migration_threshold)).toBeGreaterThan(0n)
    for (const [wrong, said] of [
      [{ steep: { ...steep, decimals: 12 } }, 'steep.decimals'],
      [{ steep: { ...steep, liquidity: { partner: 50, partner_locked: 40 } } }, 'liquidity'],
      [{ 'Not A Name': steep }, 'is not a valid name'],
      [[], 'must contain a JSON object'],
    ] as const) {
      writeFileSync(file, JSON.stringify(wrong))
      const service = await startService({ settings: { 'pools.presets': file } })
      const { json } = await service.request('GET', '/v2/pool-presets')
      expect(json.error.message).toContain(said)
    }
  })
})
