/** Settlements of raises over HTTP, on the real programs: each amount to the unit, whatever was done before. */
import * as spl from '@solana/spl-token'
import { describe, expect, it } from 'vitest'
import { type PoolPlan, raisedSum, raisePool, seedOf } from '../../src/solana/raise-pool.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { withFee } from '../support/locks.ts'
import { FIRST_COME, FIXED, giveUp, lacksPresale, PRO_RATA } from '../support/new-raises.ts'
import { POOL, settledRaises } from '../support/settled-raises.ts'
import { addressOf, SOL } from '../support/wallets.ts'

/** Ten steps of an hour, and where the data of a pool's opening has them. */
const [FALLING, AT_SCHEDULE] = [[10, 0, 16, 14, 0, 0, 0, 0, 0, 0, 1], 16]

/** The tested build opens a pool at most 30 seconds ahead, so its trades begin soon after the end. */
const early = {
  pool: { ...POOL, when: 'before_end', opens_after_seconds: 15 },
  ...{ lock_seconds: 0, release_bps: 10_000 },
}
/** A trade before its time. */
const CLOSED = { InstructionError: [expect.anything(), { Custom: 6003 }] }

const lacks = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')

describe.skipIf(lacks !== '')(`the settlement of a raise ${lacks}`, () => {
  for (const terms of [FIXED, PRO_RATA, FIRST_COME]) {
    it(`of ${terms.sale_mode} withdraws, opens the planned pool and locks it, in one transaction`, async () => {
      const raises = await settledRaises()
      const { id, preview } = await raises.create({ ...terms, pool: POOL })
      raises.openWrapped()
      const buyer = raises.buy(id, 5n * SOL)
      raises.end(id)
      const before = raises.tokens()
      const data = await raises.settle(id)
      expect(data).toMatchObject({
        acts: ['withdraw', 'open_pool', 'lock_liquidity', ...(terms === FIXED ? ['close_price'] : [])],
        left: [],
        quote: String(5n * SOL),
        pool_quote: preview.best.pool_quote,
        pool_tokens: preview.best.pool_tokens,
        pool_address: await raises.poolAddress(),
        locked_bps: 10_000,
      })
      expect(raises.wrapped()).toBe(BigInt(preview.best.creator_gets))
      expect(before - raises.tokens()).toBe(BigInt(data.pool_tokens))
      const pool = await raises.pool()
      expect([pool!.locked > 0n, pool!.position!.liquidity]).toEqual([true, 0n])
      expect(await raises.refusedSettle(id)).toEqual(['id', expect.stringContaining('is settled')])
      // Buyers get everything when the lock ends.
      expect(raises.claim(id, buyer)).toBe(0n)
      raises.chain.advance(3_600)
      expect(raises.claim(id, buyer)).toBe(BigInt(preview.best.buyers_get))
      expect(raises.vaults(id)).toEqual({ tokens: 0n, quote: 0n })
    })
  }

  it('opens the same pool when the withdrawal was done before', async () => {
    const raises = await settledRaises()
    const { id, preview } = await raises.create({ pool: POOL })
    raises.buy(id, SOL)
    raises.end(id)
    expect(await raises.settle(id, { skip_pool: true })).toMatchObject({ acts: ['withdraw', 'unsold', 'close_price'] })
    expect(raises.wrapped()).toBe(SOL)
    const second = await raises.settle(id)
    expect(second).toMatchObject({ acts: ['open_pool', 'lock_liquidity'], left: [], quote: '0' })
    expect(second).toMatchObject({ pool_quote: preview.expected.pool_quote, pool_tokens: preview.expected.pool_tokens })
    expect(raises.wrapped()).toBe(BigInt(preview.expected.creator_gets))
  })

  it('leaves to the next request what does not fit beside the pool and a new account', async () => {
    const raises = await settledRaises({ 'priority-fee': '1000' })
    const { id } = await raises.create({ pool: POOL, deposit_fee_bps: 100 })
    raises.buy(id, SOL)
    raises.end(id)
    const first = await raises.settle(id)
    expect(first).toMatchObject({ acts: ['withdraw', 'open_pool', 'lock_liquidity', 'collect_fee'] })
    expect(first.left).toEqual(['unsold', 'close_price'])
    expect(first.bytes).toBeLessThanOrEqual(1_232)
    expect(await raises.settle(id)).toMatchObject({ acts: first.left, left: [] })
  })

  it('fits into one transaction of version 1, with fees and unsold tokens', async () => {
    const raises = await settledRaises()
    const { id, preview } = await raises.create({ pool: POOL, deposit_fee_bps: 100 })
    raises.buy(id, SOL)
    raises.end(id)
    const before = raises.tokens()
    const data = await raises.settle(id, { tx_version: 1 })
    expect(data).toMatchObject({
      acts: ['withdraw', 'open_pool', 'lock_liquidity', 'collect_fee', 'unsold', 'close_price'],
      left: [],
      quote: String(BigInt(preview.expected.raised) + BigInt(preview.expected.fees)),
      tokens: '4000000000000',
    })
    expect(raises.wrapped()).toBe(BigInt(preview.expected.creator_gets) + BigInt(preview.expected.fees))
    expect(raises.tokens() - before + BigInt(POOL.reserve)).toBe(BigInt(preview.expected.creator_tokens))
    // The buyer's share, and nothing else.
    expect(raises.vaults(id)).toEqual({ tokens: BigInt(preview.expected.buyers_get), quote: 0n })
  })

  it('without a plan opens no pool, and burns what is not sold', async () => {
    const raises = await settledRaises()
    const { id, preview } = await raises.create({ unsold: 'burn' })
    raises.buy(id, SOL)
    raises.end(id)
    const before = raises.tokens()
    const data = await raises.settle(id)
    expect(data).toMatchObject({ acts: ['withdraw', 'unsold', 'close_price'], tokens: '0', pool_address: null })
    expect(raises.tokens()).toBe(before)
    expect(raises.vaults(id).tokens).toBe(BigInt(preview.expected.buyers_get))
  })

  it('returns everything if the raise has failed', async () => {
    const raises = await settledRaises()
    const before = raises.tokens()
    const { id, preview } = await raises.create({ pool: POOL })
    raises.buy(id, SOL - 1_000_000n)
    raises.end(id)
    const data = await raises.settle(id)
    expect(data).toMatchObject({ acts: ['withdraw_tokens', 'close_price'], quote: '0', pool_address: null })
    expect(data.tokens).toBe(String(BigInt(preview.failed.creator_tokens) - BigInt(POOL.reserve)))
    expect(raises.tokens()).toBe(before)
    expect(await raises.refusedSettle(id)).toEqual(['id', expect.stringContaining('is settled')])
  })

  it('is refused to others, and before the end but for the account of the price', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, SOL)
    const [param, message] = await raises.refusedSettle(id, { payer: raises.mint })
    expect([param, message]).toEqual(['payer', expect.stringContaining('can settle it')])
    expect(await raises.settle(id)).toMatchObject({ acts: ['close_price'], left: [] })
    expect(await raises.refusedSettle(id)).toEqual(['id', expect.stringContaining('before it ends')])
    expect(await raises.reasonAgainst(id)).toBe('not_ended')
    expect((await raises.refusedSettle(raises.mint))[1]).toContain('There is no raise')
  })

  it('says how much of the reserve is missing, and settles without the pool if told so', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 5n * SOL)
    raises.end(id)
    raises.give(raises.buyer(), raises.tokens() - 1_000n)
    const [param, message] = await raises.refusedSettle(id)
    expect([param, message]).toEqual(['skip_pool', expect.stringContaining('has 1000')])
    const data = await raises.settle(id, { skip_pool: true })
    expect(data).toMatchObject({ acts: ['withdraw', 'close_price'], quote: String(5n * SOL), pool_quote: '0' })
    expect(raises.wrapped()).toBe(5n * SOL)
  })

  it('opens little before the end, and adds and locks the rest after it', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create(early)
    const buyer = raises.buy(id, 2n * SOL)
    const end = Number(raises.read(id).endsAt)
    raises.at(end - 14)
    const tokens = raises.tokens()
    // The price is rounded up.
    const bought = 1_999_999_999_999n
    const seeded = await raises.settle(id)
    expect(seeded.acts).toEqual(['open_pool', 'close_price'])
    expect(BigInt(seeded.pool_quote)).toBeLessThan(10_000n)
    expect(await raises.refusedSettle(id)).toEqual(['id', expect.stringContaining('before it ends')])
    raises.at(end)
    // The buyer has tokens now, and cannot open another pool.
    expect(raises.claim(id, buyer)).toBe(bought)
    // Nobody can move the price until the rest is added.
    expect(await raises.trade(1_000n)).toEqual(CLOSED)
    const late = await raises.settle(id)
    expect(late).toMatchObject({ acts: ['withdraw', 'add_liquidity', 'lock_liquidity', 'unsold'], left: [] })
    const pool = await raises.pool()
    expect([pool!.locked > 0n, pool!.position!.liquidity]).toEqual([true, 0n])
    const sold = BigInt(seeded.pool_tokens) + BigInt(late.pool_tokens)
    expect(tokens - raises.tokens() + BigInt(late.tokens)).toBe(sold)
    expect(raises.wrapped()).toBe(2n * SOL - BigInt(late.pool_quote))
    expect(BigInt(late.pool_quote)).toBeGreaterThan(SOL - 10_000n)
    raises.at(end + 20)
    expect(await raises.trade(1_000n)).toBeNull()
    expect(await raises.refusedSettle(id)).toEqual(['id', expect.stringContaining('is settled')])
    expect(await raises.reasonAgainst(id)).toBe('settled')
  })

  it('names the field of the plan if this build of the program opens no pool so far ahead', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ ...early, pool: { ...early.pool, opens_after_seconds: 600 } })
    raises.at(Number(raises.read(id).endsAt) - 10)
    expect((await raises.refusedSettle(id))[1]).toContain('a raise plans it by pool.opens_after_seconds')
  })

  it('adds to the position that it opened, whatever positions others give to the creator', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create(early)
    const buyer = raises.buy(id, 2n * SOL)
    const end = Number(raises.read(id).endsAt)
    raises.at(end - 14)
    await raises.settle(id)
    raises.at(end)
    raises.claim(id, buyer)
    // A larger one, locked for good, from which nothing more can be locked.
    await raises.donate(buyer, 10n * (await raises.pool())!.position!.liquidity)
    const late = await raises.settle(id)
    expect(late.acts).toContain('lock_liquidity')
    expect(BigInt(late.pool_quote)).toBeGreaterThan(SOL - 10_000n)
  })

  it('cannot be squatted while nothing is released: a buyer has no token to open the pool with', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    const buyer = raises.buy(id, 5n * SOL)
    raises.end(id)
    expect(raises.claim(id, buyer)).toBe(0n)
    expect(await raises.squat(buyer)).not.toBeNull()
    await raises.settle(id)
    raises.chain.advance(3_600)
    expect(raises.claim(id, buyer)).toBeGreaterThan(0n)
    // The pair has its only pool.
    expect(await raises.squat(buyer)).not.toBeNull()
  })

  it('of a token that others hold says who opened the pool first, and settles without it', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 5n * SOL)
    const stranger = raises.buyer()
    raises.give(stranger, 1_000n)
    expect(await raises.squat(stranger)).toBeNull()
    raises.end(id)
    const [param, message] = await raises.refusedSettle(id)
    expect(param).toBe('skip_pool')
    expect(message).toContain(await raises.poolAddress())
    expect(message).toContain(addressOf(stranger))
    expect((await raises.settle(id, { skip_pool: true })).acts).toEqual(['withdraw', 'close_price'])
    expect(raises.wrapped()).toBe(5n * SOL)
    expect((await raises.refusedSettle(id))[0]).toBe('skip_pool')
  })

  it('is not misled by a pool that a stranger opens in the name of the creator', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 5n * SOL)
    const stranger = raises.buyer()
    raises.give(stranger, 1_000n)
    expect(await raises.squat(stranger, raises.seller)).toBeNull()
    raises.end(id)
    expect(await raises.refusedSettle(id)).toEqual(['skip_pool', expect.stringContaining('otherwise than planned')])
  })

  const hostile: [string, { change?: (data: Buffer) => void; seconds?: bigint }][] = [
    ['a fee that falls', { change: (data) => data.set(FALLING, AT_SCHEDULE) }],
    ['a later opening', { seconds: 30n }],
  ]
  it.each(hostile)('adds nothing to a pool in the name of the creator with %s', async (_, { seconds, ...how }) => {
    const raises = await settledRaises()
    const { id } = await raises.create({ pool: POOL })
    raises.buy(id, 5n * SOL)
    raises.end(id)
    const plan: PoolPlan = (await raises.ask('GET', `/v2/raises/${id}`)).json.data.pool
    const planned = raisePool(plan, raisedSum(raises.read(id)))
    if (typeof planned === 'string') throw new Error(planned)
    const [stranger, of] = [raises.buyer(), seedOf(planned)]
    raises.give(stranger, of.tokens)
    const later = seconds && { activationPoint: BigInt(raises.chain.unixTimestamp()) + seconds }
    const { fee_bps: feeBps } = plan
    expect(await raises.squat(stranger, raises.seller, { of, feeBps, ...later, ...how })).toBeNull()
    expect(await raises.refusedSettle(id)).toEqual(['skip_pool', expect.stringContaining('otherwise than planned')])
  })

  it('adds nothing to a pool whose price has moved', async () => {
    const raises = await settledRaises()
    const { id } = await raises.create(early)
    raises.buy(id, 2n * SOL)
    raises.at(Number(raises.read(id).endsAt) - 14)
    await raises.settle(id)
    raises.at(Number(raises.read(id).endsAt) + 20)
    expect(await raises.trade(1_000n)).toBeNull()
    expect(await raises.refusedSettle(id)).toEqual(['skip_pool', expect.stringContaining('has moved')])
  })

  it('of a token with a transfer fee takes no more than the reserve, and says what arrives', async () => {
    const raises = await settledRaises({}, withFee(100, 10n ** 18n))
    giveUp(raises, raises.tokenAccount, spl.AuthorityType.TransferFeeConfig)
    const { id, preview } = await raises.create({ pool: POOL })
    raises.buy(id, 2n * SOL)
    raises.end(id)
    const before = raises.tokens()
    const data = await raises.settle(id, { tx_version: 1 })
    expect(data.acts).toEqual(['withdraw', 'open_pool', 'lock_liquidity', 'unsold', 'close_price'])
    expect(data.tokens).toBe('2970000000000')
    expect(raises.tokens() - before).toBe(BigInt(data.tokens) - BigInt(data.pool_tokens))
    expect(BigInt(data.pool_tokens)).toBeLessThanOrEqual(BigInt(POOL.reserve))
    expect(BigInt(preview.best.pool_tokens)).toBeLessThanOrEqual(BigInt(POOL.reserve))
  })

  it('opens the accounts of a creator that has none, where unsold tokens and fees arrive', async () => {
    const raises = await settledRaises()
    const creator = raises.buyer()
    const { id } = await raises.create({ deposit_fee_bps: 250, creator: addressOf(creator) }, creator)
    raises.buy(id, SOL)
    raises.end(id)
    const data = await raises.settleBy(creator, id)
    expect(data).toMatchObject({ acts: expect.arrayContaining(['withdraw', 'collect_fee', 'unsold']), left: [] })
    expect(raises.wrapped(creator.publicKey)).toBe(BigInt(data.quote))
    expect(BigInt(data.quote)).toBe(SOL + 25_641_026n)
    expect(raises.units(creator)).toBe(BigInt(data.tokens))
  })

  it('of a pro rata raise leaves the excess and its fees to the buyers', async () => {
    const raises = await settledRaises()
    const { id, preview } = await raises.create({ ...PRO_RATA, pool: POOL, deposit_fee_bps: 100 })
    raises.buy(id, 4n * SOL)
    raises.buy(id, 3n * SOL)
    raises.end(id)
    const data = await raises.settle(id, { tx_version: 1 })
    expect(data).toMatchObject({ acts: ['withdraw', 'open_pool', 'lock_liquidity', 'collect_fee'], left: [] })
    expect(data.pool_quote).toBe(preview.best.pool_quote)
    // 2 SOL, and the fees on them.
    expect(raises.vaults(id).quote).toBe(2n * SOL + 20_202_020n)
    expect(BigInt(data.quote)).toBe(5n * SOL + 50_505_052n)
  })
})
