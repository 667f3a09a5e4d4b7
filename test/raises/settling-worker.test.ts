/** Raises of the platform wallet on the real programs: followed, and settled by the worker within the policy. */
import { describe, expect, it } from 'vitest'
import { followRaises, settleOwnRaise } from '../../src/operations/raises/follow-raises.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { DAMM_V2_POOL_AUTHORITY } from '../../src/solana/programs.ts'
import { findRaise, updateRaise } from '../../src/store/resources/raises.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { FIXED, HOUR, isoOf, lacksPresale, raisesOn } from '../support/new-raises.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { itInSoak } from '../support/runs.ts'
import { POOL, settlementsOn } from '../support/settled-raises.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const lacks = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')
/** Owner of the vaults of all raises. */
const RAISE_AUTHORITY = '4Xgt6XKZiowAGNdPWngVAwpYbSwAmbBnRBPtCFXhrypc'
const TOKENS = 10_000_000_000_000n
const GENEROUS = { lamports_per_transaction: String(10n * SOL), lamports_per_day: String(50n * SOL) }

/** A platform wallet with tokens, and what it may move of them. */
async function platformRaises() {
  const service = await startPlatform(GENEROUS)
  const { wallet } = service
  const on = await raisesOn(service)
  const raises = await settlementsOn({ ...on, seller: wallet })
  const given = BigInt(on.units(on.seller))
  await (await settlementsOn(on)).give(wallet, given)
  const permit = async (tokens: bigint) => {
    const allowed = [{ mint: on.mint, per_transaction: String(tokens), per_day: String(5n * tokens) }]
    const body = { tokens: allowed }
    const { status, text } = await service.request('PATCH', '/v2/signer/policy', { body })
    expect(status, text).toBe(200)
  }
  await permit(TOKENS)
  const problems: string[] = []
  /** One round of the workers, so many seconds later. */
  const round = async (seconds = 10) => {
    service.clock.advance(seconds * 1_000)
    on.chain.advance(1)
    await followTransactions(service.services)
    await followRaises(service.services, { report: (error) => problems.push(String(error)) })
    on.chain.advance(1)
    await followTransactions(service.services)
  }
  const create = async (more: object) => {
    const body = {
      payer: addressOf(wallet),
      mint: on.mint,
      mode: 'signed',
      settle: true,
      ends_at: isoOf(on.now() + HOUR),
    }
    const { status, json, text } = await on.ask('POST', '/v2/raises', { ...body, ...FIXED, ...more })
    expect(status, text).toBe(200)
    await round(1)
    return json.data
  }
  const listed = async () => (await on.ask('GET', '/v2/raises')).json.data[0]
  const settlements = () =>
    service.services.store.db.selectFrom('signings').selectAll().where('operation', '=', 'raise.settle').execute()
  return { ...raises, service, wallet, permit, problems, round, create, listed, settlements }
}

describe.skipIf(lacks !== '')(`the worker of raises ${lacks}`, () => {
  it('follows a raise from its creation to its pool, and settles it once', async () => {
    const raises = await platformRaises()
    const { id, preview } = await raises.create({ pool: POOL })
    expect(await raises.listed()).toMatchObject({ id, state: 'ongoing', settle: true, withdrawn: false })
    raises.buy(id, 2n * SOL)
    await raises.round(60)
    expect(await raises.listed()).toMatchObject({ state: 'ongoing', deposited: String(2n * SOL) })
    raises.end(id)
    for (let i = 0; i < 8; i++) await raises.round(60)
    expect(raises.problems).toEqual([])
    expect(await raises.listed()).toMatchObject({
      state: 'completed',
      withdrawn: true,
      pool_address: await raises.poolAddress(),
      settle_error: null,
    })
    expect(raises.vaults(id)).toEqual({ tokens: 1_999_999_999_999n, quote: 0n })
    const [pool] = (await raises.ask('GET', '/v2/pools')).json.data
    expect(pool).toMatchObject({
      address: await raises.poolAddress(),
      type: 'damm_v2',
      status: 'live',
      base_mint: raises.mint,
    })
    const events = (await raises.service.request('GET', '/v2/events?limit=100')).json.data as { type: string }[]
    expect(events.filter(({ type }) => type.startsWith('pool.')).map(({ type }) => type)).toEqual(['pool.live'])
    expect((await raises.settlements()).length).toBeLessThanOrEqual(2)
    expect(BigInt(preview.best.pool_quote)).toBeGreaterThan(0n)
    expect(raises.wrapped(raises.wallet.publicKey)).toBeGreaterThan(SOL - 1_000n)
  })

  itInSoak('plans no pool for a pair that has one', async () => {
    const raises = await platformRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 2n * SOL)
    raises.end(id)
    for (let i = 0; i < 8; i++) await raises.round(60)
    const again = { payer: addressOf(raises.wallet), mint: raises.mint, ends_at: isoOf(raises.now() + HOUR) }
    const { status, json } = await raises.ask('POST', '/v2/raises', { ...again, ...FIXED, pool: POOL })
    const pool_address = await raises.poolAddress()
    expect([status, json.error.param, json.error.details]).toMatchObject([400, 'pool', { pool_address }])
  })

  it('says what the policy refuses, and settles once it permits it', async () => {
    const raises = await platformRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 5n * SOL)
    await raises.permit(1_000n)
    raises.end(id)
    await raises.round(60)
    await raises.round(60)
    expect((await raises.listed()).settle_error).toContain('policy')
    expect(raises.problems[0]).toContain(id)
    expect(raises.read(id).creatorWithdrawn).toBe(false)
    const waiting = async () =>
      (await raises.service.request('GET', '/v2/attention?kind=launch_unfinished')).json.data as object[]
    expect(await waiting()).toEqual([])
    const [row] = await raises.rows()
    const { clock } = raises.service
    clock.advance(Math.max(0, Number(row!.ends_at) + 11 * 60_000 - clock.now()))
    expect(await waiting()).toEqual([
      expect.objectContaining({
        subject: { type: 'raise', id },
        summary: expect.stringMatching(/^The raise .* is complete, .* Its settlement was refused: Refused by the rule/),
        command: `svc raises settle ${id}`,
      }),
    ])
    await raises.permit(TOKENS)
    for (let i = 0; i < 4; i++) await raises.round(3_600)
    expect(await raises.listed()).toMatchObject({ withdrawn: true, settle_error: null })
    expect(await waiting()).toEqual([])
  })

  itInSoak('opens the pool if the policy lists the owners of the vaults, of raises and of pools', async () => {
    const raises = await platformRaises()
    const list = (destinations: string[] | null) =>
      raises.service.request('PATCH', '/v2/signer/policy', { body: { destinations } })
    await list([addressOf(raises.seller)])
    const terms = { ...FIXED, payer: addressOf(raises.wallet), mint: raises.mint, ends_at: isoOf(raises.now() + HOUR) }
    const { json } = await raises.ask('POST', '/v2/raises', { ...terms, mode: 'signed', pool: POOL })
    expect(json.error.message).toContain(`(token account of ${RAISE_AUTHORITY}) would receive`)
    await list([RAISE_AUTHORITY])
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 2n * SOL)
    raises.end(id)
    for (let i = 0; i < 2; i++) await raises.round(60)
    expect((await raises.listed()).settle_error).toContain(`(token account of ${DAMM_V2_POOL_AUTHORITY}) would receive`)
    await list([RAISE_AUTHORITY, DAMM_V2_POOL_AUTHORITY])
    for (let i = 0; i < 4; i++) await raises.round(3_600)
    expect(await raises.listed()).toMatchObject({
      ...{ withdrawn: true, settle_error: null, pool_address: await raises.poolAddress() },
    })
  })

  it('records the pool of a settlement that was sent past this service', async () => {
    const raises = await platformRaises()
    const { id } = await raises.create({ settle: false, pool: POOL })
    raises.buy(id, 2n * SOL)
    raises.end(id)
    await raises.settle(id)
    for (let i = 0; i < 4; i++) await raises.round(3_600)
    expect(await raises.settlements()).toEqual([])
    const address = await raises.poolAddress()
    expect(await raises.listed()).toMatchObject({ id, withdrawn: true, pool_address: address })
    expect((await raises.ask('GET', '/v2/pools')).json.data).toEqual([
      expect.objectContaining({ address, type: 'damm_v2', status: 'live', creator: addressOf(raises.wallet) }),
    ])
  })

  it('leaves a raise to its creator once it is settled without the pool', async () => {
    const raises = await platformRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 2n * SOL)
    raises.end(id)
    const body = { payer: addressOf(raises.wallet), mode: 'signed', skip_pool: true }
    const { status, text } = await raises.ask('POST', `/v2/raises/${id}/settlements`, body)
    expect(status, text).toBe(200)
    for (let i = 0; i < 8; i++) await raises.round(60)
    expect(await raises.listed()).toMatchObject({ withdrawn: true, settle: false, pool_address: null })
    expect(await raises.settlements()).toHaveLength(1)
  })
  it('leaves others alone, and stops looking at what is done', async () => {
    const raises = await platformRaises()
    const { id } = await raises.create({ settle: false })
    raises.buy(id, 5n * SOL)
    raises.end(id)
    for (let i = 0; i < 3; i++) await raises.round(3_600)
    expect(await raises.settlements()).toEqual([])
    expect(await raises.listed()).toMatchObject({ id, state: 'completed', withdrawn: false })
  })

  itInSoak(
    'builds nothing on a reading that is older than its last transaction, and again after one that failed',
    async () => {
      const raises = await platformRaises()
      const { id } = await raises.create({})
      raises.buy(id, 5n * SOL)
      raises.end(id)
      for (let i = 0; i < 3; i++) await raises.round(60)
      const { services } = raises.service
      const { store } = services
      const signed = (await raises.settlements()).length
      await store.write((tx) => updateRaise(tx, id, { next_check_at: services.clock.now() }))
      const row = async () => (await findRaise(store.db, id))!
      await settleOwnRaise(services, await row(), { slot: 0 })
      expect(await row()).toMatchObject({ settle_error: null, settle_failures: 0 })
      const { signature } = (await raises.settlements()).at(-1)!
      const failed = { lifecycle: 'failed' } as const
      await store.write((tx) => tx.updateTable('transactions').set(failed).where('signature', '=', signature).execute())
      await settleOwnRaise(services, await row(), { slot: 10 ** 9 })
      expect(await row()).toMatchObject({ settle_failures: 1, settle_signing: null })
      expect((await row()).settle_error).toContain(`svc tx get ${signature}`)
      expect((await row()).next_check_at).toBe(services.clock.now() + 10_000)
      // What the failed one should have done is done: nothing is signed for it.
      await expect(settleOwnRaise(services, await row(), { slot: 10 ** 9 })).rejects.toThrow('is settled')
      expect((await row()).next_check_at).toBe(services.clock.now() + 20_000)
      expect((await raises.settlements()).length).toBe(signed)
      // What is refused for weeks is tried about once a day.
      await store.write((tx) => updateRaise(tx, id, { settle_failures: 40 }))
      await expect(settleOwnRaise(services, await row(), { slot: 10 ** 9 })).rejects.toThrow('is settled')
      expect((await row()).next_check_at).toBe(services.clock.now() + 81_920_000)
      const ends_at = services.clock.now() + 60_000
      await store.write((tx) => updateRaise(tx, id, { ends_at }))
      await expect(settleOwnRaise(services, await row(), { slot: 10 ** 9 })).rejects.toThrow('is settled')
      expect((await row()).next_check_at).toBe(ends_at)
    },
  )
})
