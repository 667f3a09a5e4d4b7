/** Positions of DAMM v2 pools over HTTP: opened, added to, vested, closed, and signed for by the platform wallet; on the real program. */
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf } from './support/assets.ts'
import { FEE, lacksPools, launchedPositions, SOL } from './support/launched-positions.ts'
import { isoOf } from './support/locks.ts'
import { GENEROUS } from './support/platform-wallet.ts'
import { itInSoak } from './support/runs.ts'

/** Public test builds of the program take schedules of at most 438,000 seconds; that of the clusters takes ten years. */
const HOUR = 3_600
const DAY = 86_400
const open = (limits?: typeof GENEROUS) => launchedPositions({ lock_liquidity: false }, limits)

describe.skipIf(lacksPools)('liquidity of a DAMM v2 pool', () => {
  it('is added for exactly the shown amounts, and the parts afterwards are as shown', async () => {
    const it = await open()
    const { creator, pool, land, ask, buy, held, tokens, lamports } = it
    await buy(it.wallet(), 5n * SOL)
    await buy(creator, 10n * SOL)
    const before = await held()
    const path = `/v2/pools/${pool}/positions/${before.position}/additions`
    const body = { payer: addressOf(creator), amount_b: String(SOL) }
    const built = await ask(path, body)
    expect(built).toMatchObject({ mode: 'unsigned', pool_address: pool, position: before.position })
    expect(BigInt(built.amount_b)).toBeLessThanOrEqual(SOL)
    expect(BigInt(built.maximum_a)).toBe((BigInt(built.amount_a) * 101n) / 100n)
    expect(BigInt(built.liquidity)).toBe(BigInt(before.liquidity) + BigInt(built.added_liquidity))
    const [hadTokens, hadSol] = [tokens(creator), lamports(creator)]
    land(built.transaction, [creator])
    expect(hadTokens - tokens(creator)).toBe(BigInt(built.amount_a))
    expect(hadSol - lamports(creator)).toBe(BigInt(built.amount_b) + FEE)
    const { liquidity, unlocked_liquidity } = built
    expect(await held()).toMatchObject({ liquidity, unlocked_liquidity })
    // With both amounts neither is exceeded.
    const both = await ask(path, { ...body, amount_a: '1000' })
    expect(BigInt(both.amount_a)).toBeLessThanOrEqual(1_000n)
    expect(BigInt(both.amount_b)).toBeLessThan(SOL)
  })

  it('is not added once the price has moved by more than the slippage', async () => {
    const { creator, pool, run, ask, buy, held, wallet } = await open()
    await buy(creator, 5n * SOL)
    const before = await held()
    const path = `/v2/pools/${pool}/positions/${before.position}/additions`
    const built = await ask(path, { payer: addressOf(creator), amount_b: String(SOL), slippage_bps: 10 })
    await buy(wallet(), 5n * SOL)
    const { liquidity } = await held()
    expect(run(built.transaction, [creator]).err).not.toBeNull()
    expect((await held()).liquidity).toBe(liquidity)
  })

  it('opens a position of any wallet with tokens, whose generated key has already signed', async () => {
    const { pool, land, ask, buy, list, wallet, tokens } = await open()
    const trader = wallet()
    await buy(trader, 5n * SOL)
    const payer = addressOf(trader)
    const had = tokens(trader)
    const built = await ask(`/v2/pools/${pool}/positions`, { payer, amount_b: String(SOL / 5n) })
    expect(built.requiredSigners).toEqual([payer])
    expect(built.generated_keys).toEqual(expect.any(String))
    land(built.transaction, [trader])
    expect(had - tokens(trader)).toBe(BigInt(built.amount_a))
    const { position, nft_mint, added_liquidity: liquidity } = built
    expect((await list(payer)).positions).toMatchObject([{ position, nft_mint, liquidity, locked_liquidity: '0' }])
    const again = await ask(`/v2/pools/${pool}/positions`, { payer, amount_b: String(SOL) })
    expect(again.position).not.toBe(position)
  })

  it('that is vested is released by its schedule to the unit, and refreshed by what withdraws it', async () => {
    const it = await open()
    const { creator, pool, chain, land, ask, faultOf, buy, held } = it
    await buy(it.wallet(), 5n * SOL)
    const { position, liquidity } = await held()
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    const payer = addressOf(creator)
    const cliff = chain.unixTimestamp() + 10 * HOUR
    const terms = { cliff_at: isoOf(cliff), cliff_share_bps: 2_500, periods: 7, frequency: HOUR }
    const vested = await ask(at('vestings'), { payer, share_bps: 6_000, ...terms })
    const whole = (BigInt(liquidity) * 6n) / 10n
    const { cliff_liquidity, liquidity_per_period: part } = vested.schedule
    expect(BigInt(vested.vested_liquidity)).toBe(whole)
    expect(BigInt(cliff_liquidity) + 7n * BigInt(part)).toBe(whole)
    expect(vested.schedule).toMatchObject({ cliff_at: isoOf(cliff), ends_at: isoOf(cliff + 7 * HOUR), unit: 'seconds' })
    land(vested.transaction, [creator])
    const { schedule, vesting_liquidity, unlocked_liquidity } = vested
    expect(await held()).toMatchObject({ liquidity, schedule, vesting_liquidity, unlocked_liquidity })
    expect((await faultOf(at('vestings'), { payer }))[2]).toContain('room for only one')

    land((await ask(at('removals'), { payer })).transaction, [creator])
    expect(await held()).toMatchObject({ unlocked_liquidity: '0', liquidity: String(whole) })
    expect((await faultOf(at('removals'), { payer }))[2]).toContain(isoOf(cliff))
    chain.advance(cliff + 2 * HOUR - chain.unixTimestamp())
    const due = BigInt(cliff_liquidity) + 2n * BigInt(part)
    expect(await held()).toMatchObject({ unlocked_liquidity: String(due), vesting_liquidity: String(whole - due) })
    const half = await ask(at('removals'), { payer, share_bps: 5_000 })
    expect(BigInt(half.removed_liquidity)).toBe(due / 2n)
    land(half.transaction, [creator])
    const released = await held()
    expect(released).toMatchObject({ unlocked_liquidity: String(due - due / 2n), liquidity: half.liquidity })
    // Locking what is released refreshes too.
    chain.advance(HOUR)
    land((await ask(at('locks'), { payer, liquidity: part })).transaction, [creator])
    expect(await held()).toMatchObject({ locked_liquidity: part, unlocked_liquidity: released.unlocked_liquidity })
    chain.advance(5 * HOUR)
    const last = await held()
    expect(last.vesting_liquidity).toBe('0')
    // The ended schedule gives its room to a new one.
    const next = await ask(at('vestings'), { payer, periods: 2, frequency: HOUR, cliff_share_bps: 0 })
    land(next.transaction, [creator])
    const { unlocked_liquidity: free, schedule: now } = await held()
    // Without a cliff it begins when the transaction runs.
    expect(BigInt(free)).toBe(BigInt(now.cliff_liquidity))
    chain.advance(2 * HOUR)
    land((await ask(at('removals'), { payer })).transaction, [creator])
    expect(await held()).toMatchObject({ liquidity: part, locked_liquidity: part })
  })

  itInSoak('that is vested by random schedules is released as the program releases it', async () => {
    const { creator, pool, chain, land, ask, held } = await open()
    const { position } = await held()
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    const payer = addressOf(creator)
    const plan = fc.record({
      share_bps: fc.integer({ min: 1, max: 5_000 }),
      cliff_share_bps: fc.integer({ min: 0, max: 9_999 }),
      periods: fc.integer({ min: 1, max: 50 }),
      frequency: fc.integer({ min: 1, max: 1_000 }),
      delay: fc.integer({ min: 60, max: 1_000 }),
      looks: fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 3 }),
    })
    const property = fc.asyncProperty(plan, async ({ delay, looks, ...terms }) => {
      const before = await held()
      const cliff_at = isoOf(chain.unixTimestamp() + delay)
      const vested = await ask(at('vestings'), { payer, cliff_at, ...terms })
      land(vested.transaction, [creator])
      expect(await held()).toMatchObject({ liquidity: before.liquidity, unlocked_liquidity: vested.unlocked_liquidity })
      for (const seconds of looks) {
        chain.advance(seconds)
        const { unlocked_liquidity: free, liquidity } = await held()
        if (free === '0') continue
        // One unit more is refused before it is built, and all of it is what the program pays out.
        const more = String(BigInt(free) / 10n || 1n)
        const taken = await ask(at('removals'), { payer, liquidity: more })
        land(taken.transaction, [creator])
        expect((await held()).liquidity).toBe(String(BigInt(liquidity) - BigInt(more)))
      }
      chain.advance(delay + terms.periods * terms.frequency)
      expect(await held()).toMatchObject({ vesting_liquidity: '0' })
    })
    await fc.assert(property, { numRuns: 8 })
  })

  it('that is all withdrawn lets its position be closed, which pays its fees and returns its rent', async () => {
    const { creator, pool, land, ask, faultOf, buy, held, list, wallet, lamports } = await open()
    await buy(creator, 5n * SOL)
    const payer = addressOf(creator)
    const first = (await held()).position
    const before = lamports(creator)
    const opened = await ask(`/v2/pools/${pool}/positions`, { payer, amount_b: String(SOL / 5n) })
    land(opened.transaction, [creator])
    const rent = before - lamports(creator) - BigInt(opened.amount_b) - 2n * FEE
    expect(rent).toBeGreaterThan(0n)
    await buy(wallet(), 5n * SOL)
    const at = (act: string) => `/v2/pools/${pool}/positions/${opened.position}/${act}`
    expect((await faultOf(at('closings'), { payer }))[2]).toContain('withdraw all of it first')
    // The fees of one position are claimed by themselves, and those of the other one stay.
    const other = await held(first)
    const claim = { payer, kind: 'damm_v2', owner: payer, position: opened.position }
    const claimed = await ask(`/v2/pools/${pool}/fee-claims`, claim)
    expect(claimed.estimated_quote).toBe((await held(opened.position)).fee_b)
    land(claimed.tx.transaction, [creator])
    expect(await held(opened.position)).toMatchObject({ fee_a: '0', fee_b: '0' })
    expect((await held(first)).fee_b).toBe(other.fee_b)
    const foreign = await faultOf(`/v2/pools/${pool}/fee-claims`, { ...claim, position: payer })
    expect(foreign.slice(0, 2)).toEqual([404, 'position'])

    await buy(wallet(), 5n * SOL)
    land((await ask(at('removals'), { payer })).transaction, [creator])
    const had = lamports(creator)
    const closing = await ask(at('closings'), { payer })
    expect(BigInt(closing.fee_b)).toBeGreaterThan(0n)
    land(closing.transaction, [creator])
    expect(lamports(creator) - had).toBe(BigInt(closing.fee_b) + rent - FEE)
    expect((await list(payer)).positions).toMatchObject([{ position: first }])
    expect((await faultOf(at('closings'), { payer })).slice(0, 2)).toEqual([404, 'position'])

    // So does one that was sent, whose NFT is in another token account.
    const friend = wallet()
    const sent = { payer, new_owner: addressOf(friend), position: first }
    land((await ask(`/v2/pools/${pool}/position-transfers`, sent)).tx.transaction, [creator])
    const its = `/v2/pools/${pool}/positions/${first}`
    const by = { payer: addressOf(friend) }
    land((await ask(`${its}/removals`, by)).transaction, [friend])
    land((await ask(`${its}/closings`, by)).transaction, [friend])
    expect((await list(addressOf(friend))).positions).toEqual([])
  })

  it('that is locked for good keeps its position open', async () => {
    const { creator, pool, land, ask, faultOf, held } = await open()
    const { position } = await held()
    const payer = addressOf(creator)
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    land((await ask(at('locks'), { payer, liquidity: '1' })).transaction, [creator])
    land((await ask(at('removals'), { payer })).transaction, [creator])
    expect(await faultOf(at('closings'), { payer })).toEqual([400, 'position', expect.stringContaining('for good')])
  })

  it('names the field of each wrong amount and schedule', async () => {
    const { creator, wallet, pool, faultOf, buy, held, chain } = await open()
    const { position } = await held()
    const payer = addressOf(creator)
    const paramOf = async (act: string, body: object) =>
      (await faultOf(`/v2/pools/${pool}/positions${act}`, { payer, ...body })).slice(0, 2)
    const add = `/${position}/additions`
    // The pool is at its lowest price, where it takes no SOL.
    expect((await faultOf(`/v2/pools/${pool}/positions`, { payer, amount_b: '5' }))[2]).toContain('give amount_a')
    await buy(wallet(), SOL)
    for (const act of ['', add]) {
      expect(await paramOf(act, {})).toEqual([400, 'amount_a'])
      expect(await paramOf(act, { amount_b: '0' })).toEqual([400, 'amount_b'])
      expect(await paramOf(act, { amount_a: '-1' })).toEqual([400, 'amount_a'])
      expect(await paramOf(act, { amount_a: String(2n ** 64n) })).toEqual([400, 'amount_a'])
      expect(await paramOf(act, { amount_b: '1', slippage_bps: 10_001 })).toEqual([400, 'slippage_bps'])
      expect(await paramOf(act, { amount_b: String(2n ** 64n - 1n) })).toEqual([400, 'amount_b'])
    }
    expect(await paramOf(add, { payer: addressOf(Keypair.generate()), amount_b: '1' })).toEqual([400, 'position'])
    const vest = `/${position}/vestings`
    const soon = isoOf(chain.unixTimestamp() + DAY)
    for (const [param, body] of [
      ['cliff_at', { cliff_at: '2020-01-01T00:00:00.000Z' }],
      ['cliff_at', { cliff_at: isoOf(chain.unixTimestamp() + 4_000 * DAY) }],
      ['cliff_slot', { cliff_slot: '1' }],
      ['cliff_at', {}],
      ['frequency', { cliff_at: soon, periods: 3 }],
      ['periods', { cliff_at: soon, periods: 65_536, frequency: 1 }],
      ['periods', { cliff_at: soon, periods: 4_000, frequency: DAY }],
      ['periods', { cliff_at: soon, periods: 3, frequency: 1, liquidity: '2' }],
      ['cliff_share_bps', { cliff_at: soon, cliff_share_bps: 5_000 }],
      ['liquidity', { cliff_at: soon, liquidity: String(2n ** 127n) }],
      ['liquidity', { cliff_at: soon, liquidity: '1', share_bps: 1 }],
    ] as const) {
      expect(await paramOf(vest, body), JSON.stringify(body)).toEqual([400, param])
    }
  })

  it('of the platform wallet is moved by its own signature, within its policy', async () => {
    const it = await open(GENEROUS)
    const { creator, platform, pool, mint, land, ask, request, buy, held, chain } = it
    await buy(it.wallet(), 5n * SOL)
    const { position } = await held()
    const owner = addressOf(platform)
    const transfer = { payer: addressOf(creator), new_owner: owner }
    land((await ask(`/v2/pools/${pool}/position-transfers`, transfer)).tx.transaction, [creator])
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    // Whatever `payer` says, the platform wallet acts for itself.
    const signed = { payer: addressOf(creator), mode: 'signed' }
    const mine = () => held(position, owner)
    const settle = () => chain.advance(1)
    const removed = await ask(at('removals'), { ...signed, share_bps: 1_000 })
    expect(removed).toMatchObject({ mode: 'signed', position, signature: expect.any(String) })
    settle()
    expect((await mine()).liquidity).toBe(removed.liquidity)
    // Tokens of a mint without a limit may not leave.
    const addition = { ...signed, amount_b: String(SOL / 10n) }
    const refused = await request('POST', at('additions'), { body: addition })
    expect([refused.status, refused.json.error?.details?.rule]).toEqual([400, 'tokens_per_transaction'])
    const tokens = [{ mint, per_transaction: '1000000000000000', per_day: '1000000000000000' }]
    expect((await request('PATCH', '/v2/signer/policy', { body: { tokens } })).status).toBe(200)
    const added = await ask(at('additions'), addition)
    settle()
    expect((await mine()).liquidity).toBe(added.liquidity)
    const opened = await ask(`/v2/pools/${pool}/positions`, addition)
    settle()
    expect((await held(opened.position, owner)).liquidity).toBe(opened.added_liquidity)
    const vested = await ask(at('vestings'), { ...signed, share_bps: 5_000, periods: 2, frequency: HOUR })
    settle()
    expect((await mine()).schedule.periods).toBe(vested.schedule.periods)
    const locked = await ask(at('locks'), { ...signed, share_bps: 10_000 })
    settle()
    expect((await mine()).locked_liquidity).toBe(locked.locked_liquidity)
  })
})
