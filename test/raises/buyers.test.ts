/** What buyers of a raise do over HTTP, on the real program: each amount to the unit, and what was said to be possible. */
import * as spl from '@solana/spl-token'
import { Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findAllowance } from '../../src/operations/raises/admission.ts'
import { createMint, give, lamportsOf, run, tokenAccountOf, unitsIn } from '../support/gold.ts'
import { listedRaise } from '../support/listed-raises.ts'
import { withFee } from '../support/locks.ts'
import { FIRST_COME, FIXED, giveUp, HOUR, isoOf, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { openSolRaise } from '../support/raise-site.ts'
import { randomOf } from '../support/random.ts'
import { oneIn } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { signV1 } from '../support/version1.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const WSOL = { mint: spl.NATIVE_MINT, program: spl.TOKEN_PROGRAM_ID }
const SIGNATURE = 5_000n

async function buyersOn(options: Parameters<typeof raisesOn>[1] = {}) {
  const on = await raisesOn(await startService({ settings: { 'priority-fee': 'none' } }), options)
  const { chain } = on
  const buyer = (sol = 100n * SOL) => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), sol)
    return key
  }
  const of = (id: string, key: Keypair) => async () =>
    (await on.ask('GET', `/v2/raises/${id}/buyers/${addressOf(key)}`)).json.data
  const build = (id: string, act: string, key: Keypair, more: object = {}) =>
    on.built('POST', `/v2/raises/${id}/${act}`, { buyer: addressOf(key), ...more })
  /** Builds an act, lands it, and answers what the build said, with what it did to the lamports of the buyer. */
  const does = async (id: string, act: string, key: Keypair, more: object = {}) => {
    const data = await build(id, act, key, more)
    const before = lamportsOf(chain, key.publicKey)
    const landed = chain.send(signV1(Buffer.from(data.transaction, 'base64'), [key]))
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
    return { ...data, change: lamportsOf(chain, key.publicKey) - before + SIGNATURE }
  }
  const refuses = (id: string, act: string, key: Keypair, more: object = {}) =>
    on.refused('POST', `/v2/raises/${id}/${act}`, { buyer: addressOf(key), ...more })
  const wsol = (key: Keypair) => unitsIn(chain, tokenAccountOf(WSOL, key.publicKey))
  const end = async (id: string) => on.at(Date.parse((await on.read(id)).ends_at) / 1_000 + 1)
  return { ...on, buyer, of, build, does, refuses, wsol, end }
}

describe.skipIf(lacksPresale !== '')(`a buyer of a raise ${lacksPresale}`, () => {
  it('of another tool is told before a deposit who could make the tokens worth less', async () => {
    const on = await buyersOn()
    const { id, creator } = openSolRaise(on.chain, { options: withFee(0, 0n) })
    const { warnings } = await on.build(id, 'deposits', on.buyer(), { amount: String(SOL) })
    expect(warnings[0]).toContain(`${addressOf(creator)} holds the transfer fee authority`)
    expect(warnings[0]).toContain('could raise the transfer fee up to 100 % before buyers claim')
  })

  it('deposits into no raise for which more would leave it than was said', async () => {
    const on = await buyersOn()
    const host = { local: async () => on.chain, request: on.service.request, visit: fetch }
    const terms = { allowlist: 'none', rounds: [{ supply: 1_000n }], quote: withFee(1_000, 10n ** 18n) } as const
    const { place, buyer } = await listedRaise(host, { ...terms, rounds: [...terms.rounds] })
    const refused = await on.refuses(place.address, 'deposits', buyer().key, { amount: '1000' })
    expect(refused).toEqual(['id', expect.stringContaining('has the extension TransferFeeConfig')])
  })

  it.each([FIXED, PRO_RATA, FIRST_COME])('of $sale_mode deposits SOL, and claims the tokens', async (terms) => {
    const on = await buyersOn()
    const { id } = await on.create({ ...terms, deposit_fee_bps: 100 })
    const key = on.buyer()
    const read = on.of(id, key)
    expect(await read()).toMatchObject({
      state: 'ongoing',
      can: ['deposit'],
      rounds: [{ round: 1, cap: '5000000000', deposited: '0', can_deposit: '5000000000', note: null }],
    })
    const paid = await on.does(id, 'deposits', key, { amount: '2000000000' })
    const rent = BigInt(paid.rent)
    expect(paid).toMatchObject({ amount: '2000000000', fee: '20202021' })
    expect(paid.change).toBe(-(2_020_202_021n + rent))
    expect(on.wsol(key)).toBeNull()
    expect(paid.buys).toBe(terms === FIXED ? '1999999999999' : '5000000000000')
    expect(await on.refuses(id, 'claims', key)).toEqual(['id', expect.stringContaining('it ends at')])
    expect(await on.refuses(id, 'refunds', key)).toEqual(['id', expect.stringContaining('only if it fails')])
    await on.end(id)
    const { can, rounds } = await read()
    expect({ can, claim: rounds[0].can_claim }).toEqual({ can: ['claim'], claim: paid.buys })
    const claimed = await on.does(id, 'claims', key)
    expect(claimed).toMatchObject({
      amount: paid.buys,
      received: paid.buys,
      refunded: '0',
      remaining: '0',
      closes: true,
    })
    expect(on.units(key)).toBe(BigInt(paid.buys))
    expect(await on.refuses(id, 'claims', key)).toEqual(['buyer', expect.stringContaining('everything is paid out')])
    expect(await read()).toMatchObject({ can: [], rounds: [{ note: expect.stringContaining('has ended') }] })
  })

  it('of a failed raise gets everything back to the lamport, its fee and rent included', async () => {
    const on = await buyersOn()
    const { id } = await on.create({ deposit_fee_bps: 333 })
    const key = on.buyer()
    const before = lamportsOf(on.chain, key.publicKey)
    const { amount, fee } = await on.does(id, 'deposits', key, { amount: '700000000' })
    await on.end(id)
    expect(await on.refuses(id, 'claims', key)).toEqual(['id', expect.stringContaining('svc raises refund')])
    const back = await on.does(id, 'refunds', key)
    expect(back).toMatchObject({ amount: String(BigInt(amount) + BigInt(fee)), closes: true })
    expect(before - lamportsOf(on.chain, key.publicKey)).toBe(2n * SIGNATURE)
    expect(on.wsol(key)).toBeNull()
  })

  it('gets the excess of a pro rata raise with the claim, or before it', async () => {
    const on = await buyersOn()
    const { id } = await on.create({
      ...PRO_RATA,
      deposit_fee_bps: 1_000,
      buyer_max: '5000000000',
      lock_seconds: HOUR,
      release_bps: 0,
    })
    const [first, second] = [on.buyer(), on.buyer()]
    for (const key of [first, second]) await on.does(id, 'deposits', key, { amount: '5000000000' })
    await on.end(id)
    expect(await on.refuses(id, 'claims', first)).toEqual(['id', expect.stringContaining('svc raises refund')])
    expect((await on.of(id, first)()).can).toEqual(['refund'])
    const early = await on.does(id, 'refunds', first)
    expect(early).toMatchObject({ amount: '2777777778', closes: false, change: 2_777_777_778n })
    expect(await on.refuses(id, 'refunds', first)).toEqual(['id', expect.stringContaining('paid back before')])
    on.at(on.now() + HOUR)
    for (const [key, refunded] of [
      [first, '0'],
      [second, '2777777778'],
    ] as const) {
      expect(await on.does(id, 'claims', key)).toMatchObject({ amount: '2500000000000', refunded, closes: true })
    }
    expect([on.units(first), on.units(second)]).toEqual([2_500_000_000_000n, 2_500_000_000_000n])
  })

  it('is refused what the program would cut, and a gap that nobody can fill', async () => {
    const on = await buyersOn()
    const { id } = await on.create({ buyer_min: '1000000000', buyer_max: '3000000000' })
    const [first, second] = [on.buyer(), on.buyer()]
    for (const amount of ['999999999', '3000000001']) {
      expect(await on.refuses(id, 'deposits', first, { amount })).toEqual([
        'amount',
        expect.stringContaining('from 1 SOL to 3 SOL'),
      ])
    }
    await on.does(id, 'deposits', first, { amount: '3000000000' })
    expect(await on.refuses(id, 'deposits', first, { amount: '1' })).toEqual([
      'buyer',
      expect.stringContaining('as much as it may'),
    ])
    await on.does(id, 'deposits', second, { amount: '1500000000' })
    const [param, gap] = await on.refuses(id, 'deposits', on.buyer(), { amount: '500000000' })
    expect({ param, gap }).toEqual({
      param: 'id',
      gap: expect.stringContaining('the 0.5 SOL that the raise still lacks'),
    })
    expect((await on.of(id, on.buyer())()).rounds[0]).toMatchObject({
      can_deposit: '0',
      note: expect.stringContaining('nobody can fill'),
    })
    // Who has deposited enough may still fill it.
    expect(await on.does(id, 'deposits', second, { amount: '500000000' })).toMatchObject({
      amount: '500000000',
      rent: '0',
    })
  })

  it('before the start, after the end, with another round and without SOL is told so', async () => {
    const on = await buyersOn()
    const { id } = await on.create({ starts_at: isoOf(on.now() + 600) })
    const asks = (more: object = {}, key = on.buyer()) =>
      on.refuses(id, 'deposits', key, { amount: '1000000000', ...more })
    expect(await asks()).toEqual(['id', expect.stringContaining('starts at')])
    expect(await asks({ round: 2 })).toEqual(['round', expect.stringContaining('only one round')])
    on.at(on.now() + 600)
    expect(await asks({}, on.buyer(SOL))).toEqual([
      'buyer',
      expect.stringContaining('are needed for deposit, fees and rent'),
    ])
    expect(await asks({ cap: '5' })).toEqual(['proof', expect.stringContaining('belong together')])
    expect(await on.refuses(id, 'withdrawals', on.buyer())).toEqual([
      'buyer',
      expect.stringContaining('has no deposit'),
    ])
    await on.end(id)
    expect(await asks()).toEqual(['id', expect.stringContaining('ended at')])
    expect((await on.ask('GET', `/v2/raises/${on.mint}/buyers/${on.mint}`)).status).toBe(404)
  })

  it('withdraws where the raise permits it, and loses the fee', async () => {
    const on = await buyersOn()
    const { id } = await on.create({ withdrawable: true, buyer_min: '1000000000', deposit_fee_bps: 1_000 })
    const key = on.buyer()
    await on.does(id, 'deposits', key, { amount: '1800000000' })
    expect((await on.of(id, key)()).can).toEqual(['deposit', 'withdraw'])
    expect(await on.refuses(id, 'withdrawals', key, { amount: '900000000' })).toEqual([
      'amount',
      expect.stringContaining('withdraw all 1.8 SOL, or at most 0.8 SOL'),
    ])
    expect(await on.does(id, 'withdrawals', key, { amount: '800000000' })).toMatchObject({
      ...{ amount: '800000000', fee_lost: '88888889', remaining: '1000000000', change: 800_000_000n },
    })
    expect(await on.does(id, 'withdrawals', key)).toMatchObject({
      amount: '1000000000',
      fee_lost: '200000000',
      remaining: '0',
    })
    const firm = await on.create()
    await on.does(firm.id, 'deposits', key, { amount: '1000000000' })
    expect(await on.refuses(firm.id, 'withdrawals', key)).toEqual([
      'id',
      expect.stringContaining('takes no withdrawals'),
    ])
  })

  it('keeps the wrapped SOL that it had, and is paid into it', async () => {
    const on = await buyersOn()
    const { id } = await on.create()
    const key = on.buyer()
    const account = tokenAccountOf(WSOL, key.publicKey)
    const wrap = [
      spl.createAssociatedTokenAccountIdempotentInstruction(key.publicKey, account, key.publicKey, WSOL.mint),
      SystemProgram.transfer({ fromPubkey: key.publicKey, toPubkey: account, lamports: 123 }),
      spl.createSyncNativeInstruction(account),
    ]
    expect(run(on.chain, wrap, [key]).err).toBeNull()
    on.chain.advance(1)
    const { rent } = await on.build(id, 'deposits', key, { amount: '900000000' })
    expect((await on.does(id, 'deposits', key, { amount: '900000000' })).change).toBe(-(900_000_000n + BigInt(rent)))
    expect(on.wsol(key)).toBe(123n)
    await on.end(id)
    expect((await on.does(id, 'refunds', key)).change).toBe(BigInt(rent))
    expect(on.wsol(key)).toBe(900_000_123n)
  })
})

describe.skipIf(lacksPresale !== '')(`a buyer of a raise ${lacksPresale}`, () => {
  it('pays another quote than SOL, whose decimals the chain proves', async () => {
    const on = await buyersOn()
    const { chain, issuer } = on
    const quote = createMint(chain, issuer, { isFreezable: false })
    const id = (await on.create({ ...FIRST_COME, quote_mint: quote.mint.toBase58(), deposit_fee_bps: 100 })).id
    const key = on.buyer()
    give(chain, issuer, quote, key.publicKey, 1_010_000_000n)
    const units = () => unitsIn(chain, tokenAccountOf(quote, key.publicKey))
    const [param, message] = await on.refuses(id, 'deposits', key, { amount: '1000000000' })
    expect({ param, message }).toMatchObject({
      param: 'amount',
      message: expect.stringContaining('are needed, with the fee'),
    })
    expect(await on.does(id, 'deposits', key, { amount: '999900000' })).toMatchObject({ fee: '10100000' })
    expect(units()).toBe(0n)
    await on.end(id)
    expect(await on.does(id, 'refunds', key)).toMatchObject({ amount: '1010000000', closes: true })
    expect(units()).toBe(1_010_000_000n)
  })

  it('is told what arrives of a token with a transfer fee', async () => {
    const on = await buyersOn({ ...withFee(100, 1_000_000_000_000n), isFreezable: false })
    giveUp(on, on.tokenAccount, spl.AuthorityType.TransferFeeConfig)
    const { id } = await on.create(FIRST_COME)
    const key = on.buyer()
    await on.does(id, 'deposits', key, { amount: '1000000000' })
    await on.end(id)
    const { amount, received } = await on.does(id, 'claims', key)
    expect(BigInt(received)).toBe(BigInt(amount) - BigInt(amount) / 100n)
    expect(on.units(key)).toBe(BigInt(received))
  })

  it('on the allowlist deposits up to its cap, with the stored proof or its own', async () => {
    const on = await buyersOn()
    const { id } = await on.create({ ...FIRST_COME, allowlist: true })
    const [listed, own, stranger] = [on.buyer(), on.buyer(), on.buyer()]
    const amount = '1000000000'
    expect(await on.refuses(id, 'deposits', listed, { amount })).toEqual([
      'buyer',
      expect.stringContaining('is not in round 1'),
    ])
    const entries = [listed, own].map((key) => ({ wallet: addressOf(key), cap: '1500000000' }))
    const stored = await on.ask('POST', `/v2/raises/${id}/allowlist`, { entries })
    expect(stored.status, stored.text).toBe(201)
    expect(await on.refuses(id, 'deposits', listed, { amount })).toEqual([
      'id',
      expect.stringContaining('is not open yet'),
    ])
    expect((await on.of(id, listed)()).rounds[0]).toMatchObject({ cap: '1500000000', can_deposit: '0' })
    on.land(
      await on.built('POST', `/v2/raises/${id}/openings`, {
        payer: addressOf(on.seller),
        url: 'https://example.com/raise',
      }),
      on.seller,
    )
    expect((await on.of(id, listed)()).rounds[0]).toMatchObject({ cap: '1500000000', can_deposit: '1500000000' })
    expect((await on.of(id, stranger)()).rounds[0]).toMatchObject({
      cap: null,
      can_deposit: '0',
      note: expect.stringContaining('allowlist'),
    })
    expect(await on.refuses(id, 'deposits', listed, { amount: '1500000001' })).toEqual([
      'amount',
      expect.stringContaining('to 1.5 SOL'),
    ])
    await on.does(id, 'deposits', listed, { amount })
    const { cap, proof } = (await findAllowance(on.service.services, id, { wallet: addressOf(own), round: 1 }))!
    const given = { cap: String(cap), proof: proof.map((hash) => Buffer.from(hash).toString('hex')) }
    expect(await on.refuses(id, 'deposits', own, { amount, ...given, cap: '1500000001' })).toEqual([
      'proof',
      expect.stringContaining('leads to no root'),
    ])
    await on.does(id, 'deposits', own, { amount, ...given })
    // A proof of 20 hashes has no room in version 0.
    const long = await on.ask('POST', `/v2/raises/${id}/deposits`, {
      buyer: addressOf(stranger),
      amount,
      cap: '1',
      proof: Array(20).fill('00'.repeat(32)),
    })
    expect(long.json.error.param).toBe('proof')
  })

  it('can do to the unit what the reading says, whatever others have done', { tags: 'sampled' }, async () => {
    // What vests by the second is the same when it is read and when it is claimed.
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { below: random } = randomOf(7)
    for (const terms of oneIn(3, [FIXED, PRO_RATA, FIRST_COME])) {
      const on = await buyersOn()
      const limits = { buyer_min: '300000000', buyer_max: '2000000000', deposit_fee_bps: 250 }
      const { id } = await on.create({
        ...terms,
        ...limits,
        ...(terms === FIXED ? { withdrawable: true } : {}),
        lock_seconds: 500,
        release_bps: 2_500,
        vesting_seconds: 1_000,
      })
      const keys = [on.buyer(), on.buyer(), on.buyer(), on.buyer()]
      const held = new Map(keys.map((key) => [key, lamportsOf(on.chain, key.publicKey)]))
      const paid = new Map(keys.map((key) => [key, 0n]))
      for (let step = 0; step < 30; step++) {
        const key = keys[random(keys.length)]!
        const { can, rounds, state } = await on.of(id, key)()
        const [round] = rounds
        const act = can[random(can.length)]
        if (act === 'deposit') {
          const most = BigInt(round.can_deposit)
          await expectRefused(on, id, 'deposits', key, { amount: String(most + 1n) })
          const amount = random(3) === 0 ? most : most / 2n + 1n
          const [isSmall] = BigInt(round.deposited) + amount < 300_000_001n ? [true] : [false]
          const { change } = await on.does(id, 'deposits', key, { amount: String(isSmall ? most : amount) })
          paid.set(key, paid.get(key)! + change)
        } else if (act === 'withdraw') {
          const { amount, change } = await on.does(id, 'withdrawals', key)
          expect([amount, change]).toEqual([round.can_withdraw, BigInt(round.can_withdraw)])
        } else if (act === 'claim') {
          const before = on.units(key)
          const claimed = await on.does(id, 'claims', key)
          expect({ claimed: claimed.amount, refunded: claimed.refunded }).toEqual({
            claimed: round.can_claim,
            refunded: round.can_refund,
          })
          expect(on.units(key) - before).toBe(BigInt(round.can_claim))
        } else if (act === 'refund') {
          expect((await on.does(id, 'refunds', key)).amount).toBe(round.can_refund)
        }
        const { can: after } = await on.of(id, key)()
        if (!after.includes('claim')) await expectRefused(on, id, 'claims', key)
        if (!after.includes('withdraw')) await expectRefused(on, id, 'withdrawals', key)
        if (step === 12) await on.end(id)
        else if (state !== 'ongoing') on.at(on.now() + 100)
      }
      on.at(on.now() + 2_000)
      for (const key of keys) {
        const {
          can,
          rounds: [round],
        } = await on.of(id, key)()
        if (can.includes('claim')) await on.does(id, 'claims', key)
        else if (can.includes('refund')) await on.does(id, 'refunds', key)
        expect((await on.of(id, key)()).can).toEqual([])
        expect(BigInt(on.units(key))).toBeGreaterThanOrEqual(BigInt(round.allocation) - 2n)
        expect(held.get(key)! > 0n).toBe(true)
      }
    }
  })
})

type On = Awaited<ReturnType<typeof buyersOn>>
const expectRefused = async (on: On, id: string, act: string, key: Keypair, more: object = {}) =>
  expect((await on.refuses(id, act, key, more))[1]).toMatch(/Nothing can be|cannot be deposited|has no deposit/)
