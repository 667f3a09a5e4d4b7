/** Airdrops whose amounts vest, over HTTP on the real distributor, with the chain's clock moved. */
import type { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextVestingAt, vestedAt } from '../../src/solana/unlock-schedule.ts'
import { addressOf, airdropsOn, claimBody, createBody, DAY_S, lacksDistributor } from '../support/airdrops.ts'
import { runs } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'

const WEEK_S = 7 * DAY_S

interface Part {
  wallet: Keypair
  amount: bigint
  locked: bigint
}

const shared = sharedService()

/** An airdrop of these parts, whose locked amounts vest within `seconds` from ten minutes on. */
async function vesting(parts: readonly { amount: bigint; locked: bigint }[], seconds = WEEK_S) {
  const all = await airdropsOn(await shared())
  const payer = all.wallet()
  const owned: Part[] = parts.map((part) => ({ ...part, wallet: all.wallet() }))
  const mint = all.mintFor(payer, 2n ** 63n)
  const entries = owned.map(({ wallet, amount, locked }) => ({
    wallet: addressOf(wallet),
    amount: String(amount),
    amount_locked: String(locked),
  }))
  const tree = await all.storeTree(mint, entries)
  const start = all.chain.unixTimestamp() + 600
  const times = { starts_at: isoOf(start), ends_at: isoOf(start + seconds) }
  const create = (more: object = times) => createBody(payer, mint, tree.root, more)
  const at = (wallet: Keypair) => `/v2/airdrops/${tree.id}/claims/${addressOf(wallet)}`
  const path = `/v2/airdrops/${tree.id}/claims`
  const goTo = (second: number) => all.pass(second - all.chain.unixTimestamp())
  const make = async () => all.submit(await all.ok('POST', '/v2/airdrops', create()), payer)
  return {
    ...all,
    payer,
    owned,
    mint,
    tree,
    id: tree.id as string,
    start,
    end: start + seconds,
    create,
    at,
    path,
    goTo,
    make,
  }
}

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()

describe('the vested amount', () => {
  const schedule = fc
    .tuple(fc.bigInt(0n, 2n ** 40n), fc.bigInt(1n, 2n ** 32n))
    .map(([startsAt, span]) => ({ startsAt, endsAt: startsAt + span }))
  const u64 = fc.bigInt(1n, 2n ** 64n - 1n)

  it('grows from zero at the start to all at the end; the next second named is the first with more', () => {
    fc.assert(
      fc.property(schedule, u64, fc.double({ min: 0, max: 1, noNaN: true }), (times, locked, share) => {
        const withdrawn = BigInt(Math.floor(Number(locked) * share)) % locked
        expect(vestedAt(times, locked, times.startsAt - 1n)).toBe(0n)
        expect(vestedAt(times, locked, times.endsAt)).toBe(locked)
        const next = nextVestingAt(times, locked, withdrawn)!
        expect(vestedAt(times, locked, next)).toBeGreaterThan(withdrawn)
        expect(vestedAt(times, locked, next - 1n)).toBeLessThanOrEqual(withdrawn)
        expect(nextVestingAt(times, locked, locked)).toBeNull()
      }),
    )
  })
})

describe('an airdrop with locked amounts', () => {
  it('needs an end after its start, both in the future; without locked amounts it has none', async () => {
    const { refused, create, start, storeTree, mint, owned, payer, ok } = await vesting([{ amount: 5n, locked: 7n }])
    const wrong = async (more: object) => {
      const { status, param, message } = await refused('POST', '/v2/airdrops', create(more))
      return [status, param, message]
    }
    expect(await wrong({})).toEqual([
      400,
      'ends_at',
      expect.stringMatching(/has locked amounts, so send the time when the last/),
    ])
    expect(await wrong({ starts_at: isoOf(start) })).toEqual([400, 'ends_at', expect.stringMatching(/is required/)])
    expect(await wrong({ starts_at: isoOf(start), ends_at: isoOf(start) })).toEqual([
      400,
      'ends_at',
      expect.stringMatching(/must be after the start, /),
    ])
    expect(await wrong({ starts_at: isoOf(start - 601), ends_at: isoOf(start) })).toEqual([
      400,
      'starts_at',
      expect.stringMatching(/must be .* or later/),
    ])
    expect(await wrong({ ends_at: isoOf(start + 40_000 * DAY_S) })).toEqual([400, 'ends_at', expect.any(String)])
    expect(await wrong({ ends_at: 'tomorrow' })).toEqual([400, 'ends_at', expect.any(String)])
    const plain = await storeTree(mint, [{ wallet: addressOf(owned[0]!.wallet), amount: '5' }], 1)
    const body = createBody(payer, mint, plain.root, { airdrop_count: 1, ends_at: isoOf(start) })
    expect(await refused('POST', '/v2/airdrops', body)).toMatchObject({ status: 400, param: 'ends_at' })
    expect(await ok('GET', `/v2/airdrops/${plain.id}`)).toMatchObject({ total: '5', total_locked: '0' })
  })
})

describe.skipIf(lacksDistributor)('claims of vesting amounts (need the Jito merkle distributor)', () => {
  // Amounts vest by the second, and a slow machine takes some: the chain's clock goes on only where it is moved.
  beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  it('pay the unlocked part at once, then the vested part, and say when the next part unlocks', async () => {
    const { make, owned, ok, submit, refused, settle, goTo, tokensOf, at, path, mint, id, start, end, eventsOf } =
      await vesting([
        { amount: 1_000n, locked: 1_000_003n },
        { amount: 5n, locked: 0n },
        { amount: 0n, locked: 70n },
      ])
    await make()
    const [first, plain, late] = owned.map(({ wallet }) => wallet) as [Keypair, Keypair, Keypair]
    expect(await ok('GET', `/v2/airdrops/${id}`)).toMatchObject({
      total: '1001078',
      total_locked: '1000073',
      vault_balance: '1001078',
      starts_at: isoOf(start),
      ends_at: isoOf(end),
      clawback_at: isoOf(end + 30 * DAY_S),
    })
    const claim = async (wallet: Keypair) => {
      const built = await ok('POST', path, claimBody(wallet))
      await submit(built, wallet)
      await settle({ worker: true })
      return built.amount
    }
    expect(await ok('GET', at(first))).toMatchObject({
      amount: '1000',
      amount_locked: '1000003',
      claimed: false,
      claimed_amount: '0',
      claimable: true,
      claimable_amount: '1000',
      vested: '0',
      starts_at: isoOf(start),
      ends_at: isoOf(end),
    })
    const early = await refused('POST', path, claimBody(late))
    expect(early).toMatchObject({ status: 400, param: 'claimer', details: { reason: 'nothing_vested' } })
    expect(await claim(first)).toBe('1000')
    expect(await claim(plain)).toBe('5')
    const none = await refused('POST', path, claimBody(first))
    expect(none.message).toMatch(
      /Nothing of the airdrop .* can be claimed by .* now \(0\.001 of \w+ were claimed before\): the/,
    )
    expect(none.details).toMatchObject({ reason: 'nothing_vested', next_vesting_at: isoOf(start + 1) })
    expect(await refused('POST', path, claimBody(plain))).toMatchObject({ details: { reason: 'already_claimed' } })

    goTo(start + WEEK_S / 2)
    expect(await ok('GET', at(first))).toMatchObject({
      claimed: true,
      claimed_amount: '1000',
      vested: '500001',
      claimable_amount: '500001',
    })
    expect(await claim(first)).toBe('500001')
    expect(tokensOf(mint, first)).toBe(501_001n)
    expect((await ok('GET', at(first))).claimed_amount).toBe('501001')
    expect(await claim(late)).toBe('35')
    expect(await refused('POST', path, claimBody(late))).toMatchObject({
      message: expect.stringMatching(/\(0\.000035 of \w+ were claimed before\)/),
      details: { reason: 'nothing_vested', claimed: '35' },
    })
    // Every wallet has claimed, and more is to come.
    expect(await ok('GET', `/v2/airdrops/${id}`)).toMatchObject({ status: 'claiming', claimed_count: 3 })

    goTo(end)
    expect(await claim(first)).toBe('500002')
    expect(await claim(late)).toBe('35')
    expect([tokensOf(mint, first), tokensOf(mint, late)]).toEqual([1_001_003n, 70n])
    expect(await refused('POST', path, claimBody(first))).toMatchObject({
      details: { reason: 'already_claimed', claimed: '1001003' },
    })
    await settle({ worker: true })
    expect(await ok('GET', `/v2/airdrops/${id}`)).toMatchObject({ status: 'fully_claimed', claimed_amount: '1001078' })
    expect((await eventsOf(id)).filter((type) => type === 'airdrop.claimed')).toHaveLength(6)

    const claims = await ok('GET', path)
    const parts = claims.map((made: Record<string, string>) => [made.wallet, made.amount, made.amount_locked])
    expect(parts).toEqual([
      [addressOf(late), '0', '35'],
      [addressOf(first), '0', '500002'],
      [addressOf(late), '0', '35'],
      [addressOf(first), '0', '500001'],
      [addressOf(plain), '5', '0'],
      [addressOf(first), '1000', '0'],
    ])
    expect(await ok('GET', `/v2/airdrops/${id}/stats`)).toMatchObject({
      ...{ claimed_count: 3, claimed_amount: '1001078', left_amount: '0', left_count: 0, claimed_amount_share: 1 },
      recorded: { claims: 6, wallets: 3, amount: '1001078', missing_count: 0, median_amount: '517' },
    })
  })

  it('at any times add up to the entitlement, and never exceed what has vested', { tags: 'sampled' }, async () => {
    const amounts = fc.record({ amount: fc.bigInt(0n, 10n ** 12n), locked: fc.bigInt(1n, 10n ** 12n) })
    const moments = fc.array(fc.integer({ min: -500, max: 120_000 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(amounts, { minLength: 1, maxLength: 3 }), moments, async (parts, seconds) => {
        const { make, owned, request, submit, goTo, tokensOf, path, mint, start, end, chain } = await vesting(
          parts,
          100_000,
        )
        await make()
        for (const second of [...seconds.sort((a, b) => a - b), 200_000]) {
          if (start + second > chain.unixTimestamp()) goTo(start + second)
          for (const { wallet, amount, locked } of owned) {
            const before = tokensOf(mint, wallet) ?? 0n
            const { status, json } = await request('POST', path, { body: claimBody(wallet) })
            if (status === 200) {
              await submit(json.data, wallet)
              expect((tokensOf(mint, wallet) ?? 0n) - before).toBeGreaterThanOrEqual(BigInt(json.data.amount))
            } else {
              expect(['nothing_vested', 'already_claimed']).toContain(json.error.details.reason)
            }
            const now = BigInt(chain.unixTimestamp())
            const vested = vestedAt({ startsAt: BigInt(start), endsAt: BigInt(end) }, locked, now)
            const held = tokensOf(mint, wallet) ?? 0n
            expect(held).toBeLessThanOrEqual(amount + vested)
          }
        }
        for (const { wallet, amount, locked } of owned) expect(tokensOf(mint, wallet) ?? 0n).toBe(amount + locked)
      }),
      { numRuns: runs(2, 12) },
    )
  })
})
