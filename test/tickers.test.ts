/** One ticker, two launches: the second to appear is refused on submit, or told of as failed; on both databases. */
import {
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { PROGRAMS } from '../src/solana/programs.ts'
import { startPostgres } from './store/postgres-server.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import { IMAGE, keysIn, settlePools } from './support/launches.ts'
import { type Limits, startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import type { ServiceOptions } from './support/service.ts'
import { addressOf, SOL, signWith, walletOn } from './support/wallets.ts'

const DAY_MS = 24 * 3_600_000
const RICH: Limits = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}
const lacking = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id))

interface Built {
  pool: string
  /** Signed by all, in their order. */
  raws: Buffer[]
}

async function setting(settings: ServiceOptions['settings'] = {}) {
  const service = await startPlatform(RICH, { settings })
  const { request, services } = service
  const { chain, wallet: creator } = await walletOn(services)
  const post = (more: object = {}, headers = {}) => {
    const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, ...more }
    return request('POST', '/v2/pools', { body, headers })
  }
  const build = async (more: object = {}): Promise<Built> => {
    const { status, text, json } = await post(more)
    expect(status, text).toBe(201)
    const { pool, transactions, required_signers } = json.data
    const keys = [creator, ...keysIn(required_signers)]
    const raws = transactions.map((text: string) => Buffer.from(signWith(text, keys), 'base64'))
    return { pool: pool.address, raws }
  }
  const submit = (raw: Buffer, more: object = {}) =>
    request('POST', '/v2/transactions', { body: { transaction: raw.toString('base64'), ...more } })
  const settle = () => settlePools(service, 3)
  const statusOf = async (pool: string) => (await request('GET', `/v2/pools/${pool}`)).json.data.status
  const eventsOf = async (type: string) => (await request('GET', `/v2/events?type=${type}`)).json.data
  return { ...service, chain, creator, post, build, submit, settle, statusOf, eventsOf }
}

/** The instruction that creates the pool, with nobody's signature asked for. */
function creationIn({ raws, pool }: Built): TransactionInstruction {
  for (const raw of raws) {
    const { instructions } = TransactionMessage.decompile(VersionedTransaction.deserialize(raw).message)
    const found = instructions.find(
      ({ programId, keys }) =>
        programId.toBase58() === PROGRAMS.dbc.id && keys.some(({ pubkey }) => pubkey.toBase58() === pool),
    )
    if (found !== undefined) {
      const keys = found.keys.map((key) => ({ ...key, isSigner: false }))
      return new TransactionInstruction({ programId: found.programId, keys, data: found.data })
    }
  }
  throw new Error('no instruction creates the pool')
}

const refusal = (symbol: string, holder: string) => ({
  code: 'bad_request',
  message: expect.stringMatching(`The ticker ${symbol} is taken by the pool ${holder} until 20..-`),
  details: { pool_address: holder, until: expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/) },
})

function suite(settingsOf: () => Promise<ServiceOptions['settings']>): void {
  it('belongs to the launch that is submitted first, whichever was built last and whatever the client tracks', async () => {
    const { build, submit, settle, statusOf, post } = await setting(await settingsOf())
    const [first, second] = [await build(), await build({ symbol: 'mtk', type: 'damm_v2' })]
    for (const tracked of [{}, { resource_type: 'gold', resource_id: 'x' }]) {
      const more = 'resource_id' in tracked ? { tracked_resource: tracked } : {}
      expect((await submit(first.raws[0]!, more)).status).toBe(200)
    }
    // Its first transaction: nobody pays for half a launch.
    const refused = await submit(second.raws[0]!)
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { ...refusal('mtk', first.pool), param: 'transaction' },
    ])
    await settle()
    expect([await statusOf(first.pool), await statusOf(second.pool)]).toEqual(['live', 'pending'])
    expect((await post()).json.error).toMatchObject({ ...refusal('MTK', first.pool), param: 'symbol' })
  })

  it('is taken by nobody who builds a launch, and free again once the submitted transaction has failed', async () => {
    const { build, post, submit, settle, statusOf, chain, creator } = await setting(await settingsOf())
    const rival = Keypair.generate()
    chain.airdrop(addressOf(rival), 100n * SOL)
    const [poor, own] = [await build({ buy_amount: 0.5 }), await build()]
    expect((await post({ creator: addressOf(rival) })).status).toBe(201)
    // Its creator has spent everything before it lands.
    chain.setAccount(addressOf(creator), { ...chain.account(addressOf(creator))!, lamports: 30_000n })
    expect((await submit(poor.raws[0]!, { skip_preflight: true })).status).toBe(200)
    expect((await post({ creator: addressOf(rival) })).json.error).toMatchObject(refusal('MTK', poor.pool))
    for (let i = 0; i < 12; i++) await settle()
    expect(await statusOf(poor.pool)).toBe('pending')
    expect((await post({ creator: addressOf(rival) })).status).toBe(201)
    chain.airdrop(addressOf(creator), 100n * SOL)
    expect((await submit(own.raws[0]!, { skip_preflight: true })).json.error).toBeUndefined()
  })

  it('belongs to a submission that never ends for as long as a pool may be pending', async () => {
    const { build, post, submit, clock } = await setting(await settingsOf())
    const built = await build()
    expect((await submit(built.raws[0]!, { skip_preflight: true })).status).toBe(200)
    const rival = { creator: addressOf(Keypair.generate()) }
    clock.advance(30 * 60_000 - 1)
    expect((await post(rival)).json.error).toMatchObject(refusal('MTK', built.pool))
    clock.advance(1)
    expect((await post(rival)).status).toBe(201)
  })

  it('is taken from nobody by a stranger who builds in the name of its creator and submits what that never signed', async () => {
    const { build, submit, settle, statusOf, chain } = await setting(await settingsOf())
    const own = await build()
    const planted = await build()
    const stranger = Keypair.generate()
    chain.airdrop(addressOf(stranger), SOL)
    const { recentBlockhash } = VersionedTransaction.deserialize(own.raws[0]!).message
    const sent = (instructions: TransactionInstruction[]) => {
      const message = new TransactionMessage({ payerKey: stranger.publicKey, recentBlockhash, instructions })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([stranger])
      return Buffer.from(transaction.serialize())
    }
    const idle = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: stranger.publicKey, lamports: 1 })
    const tracked_resource = { resource_type: 'pool', resource_id: planted.pool }
    expect((await submit(sent([idle]), { tracked_resource })).status).toBe(200)
    expect((await submit(sent([creationIn(planted)]), { skip_preflight: true })).status).toBe(200)
    const submitted = await submit(own.raws[0]!)
    expect([submitted.status, submitted.json.error]).toEqual([200, undefined])
    await settle()
    expect([await statusOf(own.pool), await statusOf(planted.pool)]).toEqual(['live', 'pending'])
  })

  it('goes to one of two that are submitted at once, every time', async () => {
    const { build, submit, settle, statusOf, services } = await setting(await settingsOf())
    for (let round = 0; round < 3; round++) {
      const symbol = `RACE${round}`
      const built = [await build({ symbol }), await build({ symbol }), await build({ symbol })]
      const answers = await Promise.all(built.map(({ raws }) => submit(raws[0]!, { skip_preflight: true })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
      const winner = answers.findIndex(({ status }) => status === 200)
      for (const { status, json } of answers) {
        if (status === 400) expect(json.error).toMatchObject(refusal(symbol, built[winner]!.pool))
      }
      await settle()
      const states = await Promise.all(built.map(({ pool }) => statusOf(pool)))
      expect(states).toEqual(built.map((_, i) => (i === winner ? 'live' : 'pending')))
    }
    const marked = services.store.db.selectFrom('pools').select('address').where('submitted_at', 'is not', null)
    expect(await marked.execute()).toHaveLength(3)
  })

  it('that came past us to the chain fails the second there, with the reason, and refuses one that is submitted', async () => {
    const { build, submit, settle, statusOf, eventsOf, chain, request, services } = await setting(await settingsOf())
    const [first, second, third] = [await build(), await build(), await build()]
    for (const raw of first.raws) expect(chain.send(raw).err).toBeNull()
    // Nobody has looked at the chain since: the submission does.
    const refused = await submit(third.raws[0]!)
    expect([refused.status, refused.json.error]).toMatchObject([400, refusal('MTK', first.pool)])
    for (const raw of second.raws) expect(chain.send(raw).err).toBeNull()
    await settle()
    expect(await Promise.all([first, second, third].map(({ pool }) => statusOf(pool)))).toEqual([
      'live',
      'failed',
      'pending',
    ])
    const failed = await eventsOf('pool.failed')
    expect(failed).toMatchObject([
      {
        data: {
          object: {
            resource_id: second.pool,
            reason: 'ticker_taken',
            taken_by: first.pool,
            until: expect.stringMatching(/Z$/),
            message: refusal('MTK', first.pool).message,
            source: 'chain',
          },
        },
      },
    ])
    expect((await eventsOf('pool.live')).length).toBe(1)
    expect(await cataloguedTypes({ services })).toContain('pool.failed')
    const verified = await request('POST', `/v2/pools/${second.pool}/verifications`, { body: {} })
    expect(verified.json.data).toMatchObject({ verified: false, pool: { status: 'failed' } })
    expect((await eventsOf('pool.failed')).length).toBe(1)
  })

  it('belongs to a launch of the platform wallet from its first signature on, and free again after the cooldown', async () => {
    const { build, submit, settle, statusOf, post, wallet, chain, clock } = await setting(await settingsOf())
    const [before, other] = [await build({ creator: addressOf(wallet) }), await build({ symbol: 'OTH' })]
    const moving = setInterval(() => {
      chain.advance(1)
      clock.advance(5_000)
    }, 100)
    const body = { creator: addressOf(wallet), mode: 'signed', buy_amount: 0.1 }
    const signed = await post(body).finally(() => clearInterval(moving))
    expect([signed.status, signed.json.error]).toEqual([201, undefined])
    expect((await post({ creator: addressOf(wallet) })).json.error).toMatchObject(
      refusal('MTK', signed.json.data.pool.address),
    )
    expect(before.pool).not.toBe(signed.json.data.pool.address)
    await settle()
    expect(await statusOf(signed.json.data.pool.address)).toBe('live')
    clock.advance(DAY_MS)
    const again = await build()
    expect((await submit(again.raws[0]!)).status).toBe(200)
    expect((await submit(other.raws[0]!, { skip_preflight: true })).status).toBe(200)
  })
}

describe.skipIf(lacking.length > 0)('a ticker on SQLite', () => {
  suite(async () => ({}))

  it('of two in one bundle, or in the legacy flow, is refused naming the second', async () => {
    const { build, request, chain } = await setting()
    const [first, second] = [await build(), await build()]
    const signed_transactions = [...first.raws, ...second.raws].map((raw) => raw.toString('base64'))
    const bundle = await request('POST', '/v2/transactions', { body: { bundle: true, signed_transactions } })
    expect([bundle.status, bundle.json.error]).toMatchObject([
      400,
      { ...refusal('MTK', first.pool), param: 'signed_transactions.1' },
    ])
    const verify = (built: Built) =>
      request('POST', `/v2/pools/${built.pool}/verifications`, {
        body: { transactions: built.raws.map((raw) => raw.toString('base64')) },
      })
    chain.advance(1)
    expect((await verify(second)).json.data).toMatchObject({ verified: true, pool: { status: 'live' } })
    const late = await verify(first)
    expect([late.status, late.json.error]).toMatchObject([
      400,
      { ...refusal('MTK', second.pool), param: 'transactions.0' },
    ])
  })
})

const server = lacking.length > 0 ? { missing: 'programs' } : await startPostgres()
if ('missing' in server) {
  describe('a ticker on PostgreSQL', () => {
    it.skip(`every test: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('a ticker on PostgreSQL', () => {
    suite(async () => ({
      'postgres.pool-timeout-ms': 60_000,
      'database-url': await server.createMigratedDatabase(),
      'encryption-key': '11'.repeat(32),
    }))
  })
}
