/** The figures of a report that are computed from what was read: sums of locks, and verdicts at their limits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Escrow } from '../src/chain/programs/jupiter-lock/index.ts'
import type { OnChainToken } from '../src/chain/programs/tokens/index.ts'
import { atHandIn, lockFacts } from '../src/operations/tokens/report/lock-facts.ts'
import { type RiskFacts, tokenRisks } from '../src/operations/tokens/report/risks.ts'
import { bpsOf } from '../src/operations/tokens/report/shares.ts'
import { INCINERATOR, WRAPPED_SOL } from '../src/solana/program-ids.ts'
import { keyOf } from './support/holders.ts'

const u32 = fc.bigInt({ min: 0n, max: 2n ** 32n })
const lock = fc
  .record({
    ...{ cliffTime: u32, frequency: u32, cliffAmount: u32, amountPerPeriod: u32 },
    periods: fc.bigInt({ min: 0n, max: 100n }),
    ...{ cancelMode: fc.nat(3), paid: fc.nat(100), held: fc.nat(100) },
  })
  .map(({ paid, held, ...terms }) => {
    const total = terms.cliffAmount + terms.amountPerPeriod * terms.periods
    const claimed = (total * BigInt(paid)) / 100n
    const escrow = { ...terms, claimed, cancelledAt: 0n, address: keyOf('lock'), recipient: keyOf('r') }
    return { escrow: escrow as unknown as Escrow, held: ((total - claimed) * BigInt(held)) / 100n }
  })

describe('the locks of a report', () => {
  it('add up to the unit to what their token accounts hold, at any time', () => {
    fc.assert(
      fc.property(fc.array(lock, { maxLength: 30 }), fc.nat(2 ** 33), (locks, unixSeconds) => {
        const { locked, vesting, claimable, cancellable, largest } = lockFacts(locks, { unixSeconds })
        const held = locks.reduce((sum, each) => sum + each.held, 0n)
        expect(BigInt(locked) + BigInt(vesting) + BigInt(claimable)).toBe(held)
        expect(BigInt(cancellable)).toBeLessThanOrEqual(BigInt(locked) + BigInt(vesting))
        expect(largest.length).toBeLessThanOrEqual(20)
        const amounts = largest.map(({ amount }) => BigInt(amount))
        expect(amounts.every((amount, i) => amount > 0n && (i === 0 || amount <= amounts[i - 1]!))).toBe(true)
      }),
    )
  })
})

describe('a share of a report', () => {
  it('is rounded down, and never more than the whole', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 64n }), (part, whole) => {
        const bps = BigInt(bpsOf(part, whole))
        expect(bps <= 10_000n && (whole === 0n ? bps === 0n : bps * whole <= part * 10_000n)).toBe(true)
      }),
    )
  })
})

const token = { mintAuthority: null, freezeAuthority: null, metadata: null, metadataElsewhere: null, extensions: null }
const pool = (more: object) => ({
  ...{ address: keyOf('pool'), type: 'damm_v2', quote_mint: WRAPPED_SOL, quote_decimals: 9 },
  ...{
    base_amount: '100',
    quote_amount: '100',
    locked_bps: 10_000,
    vesting_bps: 0,
    unlocked_bps: 0,
    burned_positions: [],
  },
  ...{ frozen: false, migrated_locked_bps: null, ...more },
})
const BIG = { base_amount: '181', quote_amount: '100000000000' }
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const levelOf = (
  risk: string,
  facts: Partial<Record<'holders' | 'pools' | 'atHand', object | null>>,
  mint: object = {},
) =>
  tokenRisks({
    ...{ token: { ...token, ...mint, supply: 10_000n, metadataPointerAuthority: null } as unknown as OnChainToken },
    ...{ epoch: 0n, unixSeconds: 0n, holderLimit: 10, holders: null, pools: null, atHand: new Map(), ...facts },
  } as RiskFacts).find((each) => each.risk === risk)!.level
const withPools = (...pools: object[]) => ({
  pools: {
    found: pools.length,
    base_amount: String(pools.reduce((sum, each) => sum + Number((each as { base_amount: string }).base_amount), 0)),
    sol_amount: '200',
    pools,
  },
})

describe('the verdict on liquidity', () => {
  it.each([
    ['a pool that is locked as a whole', [pool({})], 'ok'],
    ['less than a percent that is free', [pool({ unlocked_bps: 99 })], 'ok'],
    ['a percent that is free', [pool({ unlocked_bps: 100 })], 'warning'],
    ['half of it that is free', [pool({ unlocked_bps: 5_000 })], 'danger'],
    ['positions that were not read', [pool({ locked_bps: 5_000, vesting_bps: null, unlocked_bps: null })], 'unknown'],
    [
      'positions that were not read beside a little that is free',
      [pool({ locked_bps: 5_000, vesting_bps: null, unlocked_bps: null }), pool({ unlocked_bps: 100 })],
      'unknown',
    ],
    [
      'positions that were not read beside a danger',
      [pool({ locked_bps: 5_000, vesting_bps: null, unlocked_bps: null }), pool({ unlocked_bps: 5_000 })],
      'danger',
    ],
    [
      'positions that were not read in a pool that is locked all the same',
      [pool({ locked_bps: 9_901, vesting_bps: null, unlocked_bps: null })],
      'ok',
    ],
    ['a schedule that ends', [pool({ vesting_bps: 5_000 })], 'warning'],
    ['a curve whose migration frees a part', [pool({ type: 'dbc', migrated_locked_bps: 5_000 })], 'warning'],
    ['a curve whose migration locks all', [pool({ type: 'dbc', migrated_locked_bps: 10_000 })], 'ok'],
    [
      'a smaller pool that is free beside a large one',
      [pool(BIG), pool({ base_amount: '19', quote_amount: '9', unlocked_bps: 10_000 })],
      'warning',
    ],
    [
      'a tiny pool that is free beside a large one',
      [pool({ ...BIG, base_amount: '9901' }), pool({ base_amount: '99', quote_amount: '9', unlocked_bps: 10_000 })],
      'ok',
    ],
    [
      'eleven pools that are free beside a locked one with most of the token and little SOL',
      [
        pool({ base_amount: '189', quote_amount: '100000000' }),
        ...Array.from({ length: 11 }, () =>
          pool({ base_amount: '1', quote_amount: '100000000', unlocked_bps: 10_000 }),
        ),
      ],
      'danger',
    ],
    [
      'a free pool of another quote beside a locked one with most of the token against a lamport',
      [
        pool({ base_amount: '190', quote_amount: '1' }),
        pool({ base_amount: '10', quote_mint: keyOf('x'), unlocked_bps: 10_000 }),
      ],
      'danger',
    ],
    [
      'a free pool of another quote beside a locked one with most of the token and SOL',
      [
        pool({ ...BIG, base_amount: '9901' }),
        pool({ base_amount: '99', quote_mint: keyOf('x'), unlocked_bps: 10_000 }),
      ],
      'unknown',
    ],
    [
      'a speck of another quote that is free',
      [
        pool({ ...BIG, base_amount: '99999' }),
        pool({ base_amount: '1', quote_mint: keyOf('x'), unlocked_bps: 10_000 }),
      ],
      'ok',
    ],
    [
      'a small pool whose positions were not read',
      [pool(BIG), pool({ base_amount: '19', quote_amount: '9', locked_bps: 0, vesting_bps: null, unlocked_bps: null })],
      'warning',
    ],
    [
      'a pool with little of the token and much SOL that is free',
      [pool({}), pool({ base_amount: '1', unlocked_bps: 10_000 })],
      'danger',
    ],
    [
      'a pool of dollars that is free beside a locked one full of a worthless quote',
      [
        pool({ base_amount: '195', quote_mint: keyOf('worthless') }),
        pool({ base_amount: '5', quote_mint: USDC, unlocked_bps: 10_000 }),
      ],
      'danger',
    ],
    ['no pool', [], 'unknown'],
  ])('of %s is right', (_, pools, level) => {
    expect(levelOf('unlocked_liquidity', withPools(...pools))).toBe(level)
  })

  it('is never ok if owners can withdraw two percent of the token or of the SOL in its pools, however it is split', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 12n })
    const one = fc.record({
      ...{ base: amount, quote: amount, free: fc.integer({ min: 0, max: 10_000 }) },
      mint: fc.constantFrom(WRAPPED_SOL, USDC, keyOf('x')),
    })
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 30 }), (all) => {
        const made = all.map(({ base, quote, free, mint }) => {
          const amounts = { base_amount: String(base), quote_amount: String(quote), quote_mint: mint }
          return pool({ ...amounts, locked_bps: 10_000 - free, unlocked_bps: free })
        })
        if (levelOf('unlocked_liquidity', withPools(...made)) !== 'ok') return
        const part = (side: 'base' | 'quote', of: (each: (typeof all)[number]) => boolean) => {
          const own = all.filter(of)
          const free = own.reduce((sum, each) => sum + each[side] * BigInt(each.free), 0n)
          return [free * 100n, own.reduce((sum, each) => sum + each[side] * 20_000n, 0n)] as const
        }
        for (const [free, most] of [
          part('base', () => true),
          part('quote', ({ mint }) => mint === WRAPPED_SOL),
          part('quote', ({ mint }) => mint === USDC),
        ])
          expect(free).toBeLessThanOrEqual(most)
      }),
    )
  })

  it('is unknown when locked pools push others out of what is read', () => {
    const { pools } = withPools(pool({}))
    expect(levelOf('unlocked_liquidity', { pools: { ...pools, found: 2 } })).toBe('unknown')
  })
})

describe('the verdict on the largest holder', () => {
  const none = { supply: '10000', withheld: '0', parts: [], top: [] }
  const collects = (holder: string | null) => ({ extensions: { authorities: { withheld_withdraw: holder } } })
  it.each([
    [8_100, keyOf('thief'), 'danger'],
    [1_001, keyOf('thief'), 'warning'],
    [1_000, keyOf('thief'), 'ok'],
    [8_100, null, 'ok'],
    [8_100, INCINERATOR, 'ok'],
  ])('with %d raw units withheld of 10,000, which %s can withdraw, is %s', (withheld, holder, level) => {
    const holders = { ...none, withheld: String(withheld) }
    expect(levelOf('large_holder', { holders }, collects(holder))).toBe(level)
  })

  it.each([
    [1_000, 'ok'],
    [1_001, 'warning'],
    [5_000, 'warning'],
    [5_001, 'danger'],
  ])('with %d hundredths of a percent and a limit of 10 % is %s', (share_bps, level) => {
    const holders = { ...none, top: [{ wallet: keyOf('whale'), share_bps }] }
    expect(levelOf('large_holder', { holders })).toBe(level)
  })

  const QUARTER = 90n * 86_400n
  const dust = { wallet: keyOf('whale'), share_bps: 1 }
  const inLocks = (more: object, held = 9_000n) => {
    const terms = { cliffTime: 500n, frequency: 1n, cliffAmount: held, amountPerPeriod: 0n, periods: 0n, claimed: 0n }
    const parties = {
      recipient: keyOf('whale'),
      creator: keyOf('creator'),
      cancelMode: 0,
      updateRecipientMode: 0,
      cancelledAt: 0n,
    }
    return atHandIn([{ escrow: { ...terms, ...parties, ...more } as unknown as Escrow, held }], { unixSeconds: 100 })
  }
  it.each([
    ['that pays after more than 90 days', inLocks({ cliffTime: 101n + QUARTER }), 'ok'],
    ['that pays in a minute', inLocks({}), 'danger'],
    ['that pays in 90 days', inLocks({ cliffTime: 100n + QUARTER }), 'danger'],
    [
      'that its creator may give to itself soon',
      inLocks({ updateRecipientMode: 1, recipient: keyOf('other') }),
      'danger',
    ],
    ['that its creator can cancel', inLocks({ cancelMode: 1 }), 'danger'],
    ['that is due', inLocks({ cliffTime: 100n }), 'danger'],
    ['of little that its creator can cancel', inLocks({ cliffTime: 101n + QUARTER, cancelMode: 3 }, 1_000n), 'ok'],
    ['that nobody could read', null, 'unknown'],
  ])('with most of the supply in a lock %s is %s', (_, atHand, level) => {
    const holders = { ...none, top: [dust], parts: [{ kind: 'lock_escrow', share_bps: 9_000 }] }
    expect(levelOf('large_holder', { holders, atHand })).toBe(level)
  })

  it.each(['distributor_vault', 'raise_vault'])('with most of the supply in a %s is unknown', (kind) => {
    const holders = { ...none, top: [dust], parts: [{ kind, share_bps: 9_000 }] }
    expect(levelOf('large_holder', { holders })).toBe('unknown')
  })
})
