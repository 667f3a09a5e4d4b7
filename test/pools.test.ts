/** A launch over HTTP from end to end on the real programs, every amount checked against the chain to the lamport. */

import { getAssociatedTokenAddressSync, NATIVE_MINT } from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PoolTrade } from '../src/api/pool-trades.ts'
import { readDammV2Pool } from '../src/chain/programs/damm-v2/index.ts'
import { readDbcPool } from '../src/chain/programs/dbc/index.ts'
import { splitAmount } from '../src/operations/fee-claims/plan-claim.ts'
import { solText } from '../src/solana/amounts.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { IMAGES } from './storage/images.ts'
import { addSurplus } from './support/dbc.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import { settlePools } from './support/launches.ts'
import { keypairFile } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { TOKEN_ACCOUNT_RENT, WALLET_RENT } from './support/rent.ts'
import { openService, removeFolder, type Service } from './support/service.ts'
import { makeSharedFolder } from './support/shared-folder.ts'
import { addressOf, keypairOf, SOL, signWith } from './support/wallets.ts'

const NEEDED = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata]
const lacking = NEEDED.filter(({ id }) => !hasProgram(id)).map(({ name }) => name)
const BPS = [1234, 2, 999, 1765, 500, 500, 1, 3000, 1499, 500]

describe.skipIf(lacking.length > 0)(`a launch (needs ${NEEDED.map(({ name }) => name).join(', ')})`, () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')]
  const platform = Keypair.generate()
  const [creator, ...traders] = Array.from({ length: 5 }, () => Keypair.generate()) as [Keypair, ...Keypair[]]
  let service: Service
  let chain: Awaited<ReturnType<Service['services']['chain']['local']>>
  let pool: string
  let mint: string

  const lamportsOf = (of: string | Keypair) =>
    chain.account(typeof of === 'string' ? of : addressOf(of))?.lamports ?? 0n
  const tokensOf = (of: Keypair) => {
    const account = chain.account(getAssociatedTokenAddressSync(new PublicKey(mint), of.publicKey).toBase58())
    return account === null ? 0n : Buffer.from(account.data).readBigUInt64LE(64)
  }
  const feeOf = (signature: string) => chain.transaction(signature)!.fee
  const get = async (path: string) => (await service.request('GET', path)).json.data
  const ok = async (method: string, path: string, body: object, headers = {}) => {
    const answer = await service.request(method, path, { body, headers })
    expect([answer.status, answer.json.error], path).toEqual([answer.status === 201 ? 201 : 200, undefined])
    return answer.json.data
  }
  const settle = () => settlePools(service)
  const submit = async (transaction: string, signers: Keypair[], more: object = {}) => {
    const body = { transaction: signWith(transaction, signers), ...more }
    const { signature } = await ok('POST', '/v2/transactions', body)
    expect(chain.transaction(signature)?.err ?? null).toBeNull()
    return signature as string
  }
  const eventsOf = async (types = '') =>
    (await get(`/v2/events?order=asc&limit=100`))
      .map(({ type, data }: { type: string; data: { object: { resource_id: string } } }) => [
        type,
        data.object.resource_id,
      ])
      .filter(([type]: [string]) => type.startsWith(types))
  const traded: object[] = []
  const swap = async (at: string, trader: Keypair, side: 'buy' | 'sell', amount: bigint) => {
    const body = { payer: addressOf(trader), side, amount: String(amount) }
    const built = await ok('POST', `/v2/pools/${at}/swaps`, body)
    const before = [lamportsOf(trader), tokensOf(trader)] as const
    const held = chain.account(getAssociatedTokenAddressSync(new PublicKey(mint), trader.publicKey).toBase58())
    const rent = held === null ? TOKEN_ACCOUNT_RENT : 0n
    const signature = await submit(built.tx.transaction, [trader])
    const [lamports, tokens] = [lamportsOf(trader) - before[0], tokensOf(trader) - before[1]]
    const fee = feeOf(signature)
    const [paid, received] = side === 'buy' ? [-lamports - fee - rent, tokens] : [-tokens, lamports + fee]
    expect([side, paid, received]).toEqual([side, BigInt(built.amount_in), BigInt(built.estimated_out)])
    const amounts = { amount_in: String(paid), amount_out: String(received) }
    traded.unshift({ pool_address: at, signature, trader: addressOf(trader), side, ...amounts })
    return built
  }

  beforeAll(async () => {
    service = await openService({
      dataDir: folders[0]!,
      settings: {
        signer: 'keypair',
        'signer.keypair': keypairFile(folders[1]!, platform),
        'pools.crank': true,
        'price-url': 'http://127.0.0.1:1/',
      },
    })
    chain = await service.services.chain.local()
    for (const key of [platform, creator, ...traders]) chain.airdrop(addressOf(key), 1_000n * SOL)
    await ok('PATCH', '/v2/signer/policy', {
      lamports_per_transaction: String(100n * SOL),
      lamports_per_day: String(1_000n * SOL),
      max_fee_lamports: '10000000',
    })
    return async () => {
      await service.close()
      for (const folder of folders) removeFolder(folder)
    }
  })

  it('is built, signed by its creator and live once it is seen, and its metadata is served', async () => {
    const before = lamportsOf(creator)
    const created = await ok(
      'POST',
      '/v2/pools',
      {
        creator: addressOf(creator),
        name: 'My Token',
        symbol: 'MTK',
        image: Buffer.from(IMAGES.png).toString('base64'),
        description: 'A token',
        website: 'https://example.com',
        buy_amount: 0.5,
        externalUid: 'launch:1',
        metadata: { campaign: 'spring' },
      },
      { 'idempotency-key': 'launch-1' },
    )
    ;({ address: pool, base_mint: mint } = created.pool)
    expect(created.pool).toMatchObject({ type: 'dbc', status: 'pending', symbol: 'MTK', curve_progress: null })
    expect(created.transactions).toHaveLength(2)
    expect(created.tracked_resource).toEqual({
      resource_type: 'pool',
      resource_id: pool,
      related_events: ['pool.live'],
    })
    const metadata = await service.request('GET', new URL(created.pool.metadata_uri).pathname)
    expect(JSON.parse(metadata.text)).toMatchObject({ name: 'My Token', symbol: 'MTK', description: 'A token' })
    const image = await service.request('GET', new URL(JSON.parse(metadata.text).image).pathname)
    expect(image.headers.get('content-type')).toBe('image/png')

    const { base_mint_secret_key, config_secret_key } = created.required_signers
    const signers = [creator, keypairOf(base_mint_secret_key), keypairOf(config_secret_key)]
    const first = await submit(created.transactions[0], signers)
    await settle()
    expect((await get(`/v2/pools/${pool}`)).status).toBe('pending')
    const second = await submit(created.transactions[1], signers, { tracked_resource: created.tracked_resource })
    await settle()
    const read = await get(`/v2/pools/${pool}`)
    expect(read).toMatchObject({
      status: 'live',
      symbol: 'MTK',
      creator: addressOf(creator),
      metadata: { campaign: 'spring' },
    })
    expect(read.curve_progress).toBeGreaterThan(0)
    expect(BigInt(read.state.pool.poolState?.quoteReserve ?? read.state.pool.quoteReserve)).toBeGreaterThan(0n)
    expect(before - lamportsOf(creator)).toBeGreaterThan(SOL / 2n + feeOf(first) + feeOf(second))
    expect(tokensOf(creator)).toBeGreaterThan(0n)
    expect(await eventsOf('pool.')).toEqual([
      ['pool.created', pool],
      ['pool.live', pool],
    ])
    const [, live] = (await get(`/v2/events?order=asc&type=pool.live`)).concat(
      await get(`/v2/events?order=asc&type=pool.live`),
    )
    expect(live).toMatchObject({ external_uid: 'launch:1', metadata: { campaign: 'spring' } })
    expect((await ok('POST', `/v2/pools/${pool}/verifications`, {})).verified).toBe(true)
    expect((await get('/v2/pools?status=live')).map(({ address }: { address: string }) => address)).toEqual([pool])
  })

  it('trades as quoted, to the unit', async () => {
    await swap(pool, traders[0]!, 'buy', 2n * SOL)
    await swap(pool, traders[1]!, 'buy', 3n * SOL + 7n)
    await swap(pool, traders[2]!, 'buy', SOL / 3n)
    await swap(pool, traders[0]!, 'sell', tokensOf(traders[0]!) / 3n)
    const metrics = await get(`/v2/pools/${pool}/fee-metrics`)
    expect(BigInt(metrics.partner_quote_fee)).toBeGreaterThan(0n)
    const { progress } = await get(`/v2/pools/${pool}/curve-progress`)
    expect(progress).toBeGreaterThan(0.05)
    expect(progress).toBeLessThan(0.2)
  })

  it('pays its fees to ten recipients, exact to the lamport', async () => {
    const recipients = BPS.map(() => Keypair.generate())
    const [poor] = recipients
    const claimable = BigInt((await get(`/v2/pools/${pool}/fee-metrics`)).partner_quote_fee)
    const splits = recipients.map((key, i) => ({ recipient: addressOf(key), bps: BPS[i]! }))
    const body = { payer: addressOf(traders[0]!), splits, mode: 'signed' }
    const unpaid = await service.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
    expect([unpaid.status, unpaid.json.error.param]).toEqual([400, 'splits.1.recipient'])
    expect(unpaid.json.error.message).toContain(`an account must hold at least ${solText(WALLET_RENT)}`)
    for (const key of recipients) chain.airdrop(addressOf(key), WALLET_RENT)
    const before = lamportsOf(platform)
    const claim = await ok('POST', `/v2/pools/${pool}/fee-claims`, body, { 'idempotency-key': 'claim-1' })
    expect([claim.kind, BigInt(claim.estimated_quote), claim.tx.mode]).toEqual(['dbc', claimable, 'signed'])
    const shares = splitAmount(claimable, BPS)
    expect(recipients.map((key) => lamportsOf(key) - WALLET_RENT)).toEqual(shares)
    // The claim opens the wallet's account of the token once; everything else goes through.
    expect(before - lamportsOf(platform)).toBe(feeOf(claim.tx.signature) + TOKEN_ACCOUNT_RENT)
    const again = await ok('POST', `/v2/pools/${pool}/fee-claims`, body, { 'idempotency-key': 'claim-1' })
    expect(again).toEqual(claim)
    const nothing = await service.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
    expect([nothing.status, nothing.json.error.message]).toEqual([400, expect.stringContaining('nothing to claim')])
    await settle()
    const [record] = await get(`/v2/pools/${pool}/fee-claims`)
    expect(record).toMatchObject({
      type: 'fee_claim.split_executed',
      pool_address: pool,
      signature: claim.tx.signature,
    })
    const [event, ...more] = await get('/v2/events?type=fee_claim.split_executed')
    expect(more).toEqual([])
    expect(event.data.object.recipients).toEqual(
      recipients.map((key, i) => ({ recipient: addressOf(key), lamports: String(shares[i]) })),
    )
    expect(addressOf(poor!)).toBe(splits[0]!.recipient)
  })

  it('is migrated by the crank once the curve is full, with each step sent and reported once', async () => {
    const filled = await swap(pool, traders[3]!, 'buy', 500n * SOL)
    expect(BigInt(filled.amount_in)).toBeLessThan(100n * SOL)
    expect((await get(`/v2/pools/${pool}/curve-progress`)).progress).toBe(1)
    for (let i = 0; i < 4; i++) await settle()
    const migrated = await get(`/v2/pools/${pool}`)
    expect(migrated.status).toBe('migrated')
    expect((await eventsOf('pool.')).slice(2)).toEqual([
      ['pool.migration_triggered', pool],
      ['pool.migrated', pool],
    ])
    const signed = await get('/v2/audit-entries?action=signing.signed&limit=100')
    const cranks = signed.filter(({ details }: { details: { operation: string } }) =>
      details.operation.startsWith('pool.'),
    )
    expect(cranks.map(({ details }: { details: { operation: string } }) => details.operation)).toEqual(['pool.migrate'])
    const [after] = await get('/v2/pools?type=damm_v2')
    expect(after).toMatchObject({ type: 'damm_v2', status: 'live', base_mint: mint, curve_progress: null })
    const gone = await service.request('POST', `/v2/pools/${pool}/swaps`, {
      body: { payer: addressOf(traders[0]!), side: 'buy', amount: '1000000' },
    })
    expect([gone.status, gone.json.error.details.migrated_to]).toEqual([400, after.address])
  })

  it('has no fee metrics after its migration, and says where its fees are claimed; the new pool has none either', async () => {
    const [after] = await get('/v2/pools?type=damm_v2')
    const old = await service.request('GET', `/v2/pools/${pool}/fee-metrics`)
    expect([old.status, old.json.error.code, old.json.error.param]).toEqual([404, 'not_found', 'address'])
    expect(old.json.error.details).toEqual({ migrated_to: after.address })
    for (const kind of ['damm_v2', 'dbc', 'surplus']) expect(old.json.error.message).toContain(`kind ${kind}`)
    expect(old.json.error.message).toContain(`(GET /v2/pools/${pool}/earnings, \`svc pools earnings\`)`)
    const other = await service.request('GET', `/v2/pools/${after.address}/fee-metrics`)
    expect([other.status, other.json.error.code]).toEqual([404, 'not_found'])
    expect(other.json.error.message).toContain('kind damm_v2')
  })

  it('trades in its DAMM v2 pool, whose fees and surplus are claimed to the lamport', async () => {
    const [after] = await get('/v2/pools?type=damm_v2')
    await swap(after.address, traders[1]!, 'buy', 4n * SOL)
    await swap(after.address, traders[1]!, 'sell', tokensOf(traders[1]!) / 2n)
    const before = lamportsOf(platform)
    const claim = await ok('POST', `/v2/pools/${pool}/fee-claims`, {
      payer: addressOf(platform),
      kind: 'damm_v2',
      mode: 'signed',
    })
    expect(claim).toMatchObject({ pool_address: after.address, kind: 'damm_v2' })
    expect(lamportsOf(platform) - before).toBe(BigInt(claim.estimated_quote) - feeOf(claim.tx.signature))
    const dbc = await ok('POST', `/v2/pools/${pool}/fee-claims`, { payer: addressOf(platform), mode: 'signed' })
    expect(BigInt(dbc.estimated_quote)).toBeGreaterThan(0n)
    const metrics = async () => (await get(`/v2/pools/${pool}`)).fee_metrics
    expect(await metrics()).toMatchObject({ partner_quote_fee: '0' })
    const body = { payer: addressOf(platform), kind: 'surplus', mode: 'signed' }
    const none = await service.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
    expect([none.status, none.json.error.message]).toEqual([400, expect.stringContaining('nothing to claim')])
    // A normal fill leaves none: it is put there as rounding over many trades might.
    addSurplus({ chain }, (await readDbcPool(service.services.chain, pool))!, 1_000_003n)
    expect((await metrics()).surplus_status).toBe('available')
    const held = lamportsOf(platform)
    const surplus = await ok('POST', `/v2/pools/${pool}/fee-claims`, body)
    expect(lamportsOf(platform) - held).toBe(BigInt(surplus.estimated_quote) - feeOf(surplus.tx.signature))
    expect((await metrics()).surplus_status).toBe('withdrawn')
    await settle()
    expect((await get('/v2/fee-claims')).map(({ type }: { type: string }) => type)).toEqual([
      'fee_claim.executed',
      'fee_claim.executed',
      'fee_claim.executed',
      'fee_claim.split_executed',
    ])
    expect(NATIVE_MINT.toBase58()).toBe(after.quote_mint)
  })

  it('lists its trades before and after the migration, each once, whatever the size of a page', async () => {
    const [after] = await get('/v2/pools?type=damm_v2')
    const tradesOf = async (at: string, limit: number) => {
      const found: PoolTrade[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path: string = `/v2/pools/${at}/trades?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`
        const { json } = await service.request('GET', path)
        expect(json.data.length).toBeLessThanOrEqual(limit)
        found.push(...json.data)
        cursor = json.meta.next_cursor
      }
      return found
    }
    const curve = await tradesOf(pool, 100)
    const firstBuy = { side: 'buy', trader: addressOf(creator), amount_in: String(SOL / 2n), pool_address: pool }
    expect(curve.at(-1)).toMatchObject(firstBuy)
    const own = [...(await tradesOf(after.address, 3)), ...curve.slice(0, -1)]
    expect(own).toMatchObject(traded)
    for (const { traded_at, slot } of own) expect([typeof traded_at, slot > 0]).toEqual(['string', true])
    const { price, decimals_in, decimals_out } = own[0]!
    expect(price).toBe((await readDammV2Pool(service.services.chain, after.address))?.price)
    expect([decimals_in, decimals_out]).toEqual([6, 9])
    for (const limit of [1, 4]) expect(await tradesOf(pool, limit)).toEqual(curve)
    const damaged = await service.request('GET', `/v2/pools/${pool}/trades?cursor=abc`)
    expect([damaged.status, damaged.json.error.param]).toEqual([400, 'cursor'])
    const none = await service.request('GET', `/v2/pools/${mint}/trades`)
    expect([none.status, none.json.error.code]).toEqual([404, 'not_found'])
  })

  it('has only events with the fields that docs/events.md lists', async () => {
    expect(await cataloguedTypes(service)).toEqual([
      'fee_claim.executed',
      'fee_claim.split_executed',
      'pool.created',
      'pool.live',
      'pool.migrated',
      'pool.migration_triggered',
      'transaction.confirmed',
      'transaction.finalized',
      'transaction.submitted',
    ])
  })
})
