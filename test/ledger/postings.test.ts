/** Postings of balances that fast-check made up: whatever a node records, each token balances and each account sums to its change. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '../../commands/ledger/csv.ts'
import { monthRange, pricedValue } from '../../commands/ledger/entries.ts'
import { balancesIn, type ExecutedBalances } from '../../src/chain/reads/executed-balances.ts'
import type { KnownAddresses } from '../../src/operations/ledger/acts.ts'
import { NETWORK } from '../../src/operations/ledger/parties.ts'
import { postingsOf, SOL } from '../../src/operations/ledger/postings.ts'
import { claimAmounts } from '../../src/operations/ledger/write-ledger.ts'
import { addressOf as addressOfBytes } from '../../src/solana/addresses.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { DBC_POOL_AUTHORITY, PROGRAMS } from '../../src/solana/programs.ts'
import { amountParts } from '../../src/store/ledger/ledger.ts'
import { amountOfParts } from '../../src/store/queries/amount-parts.ts'
import { goldenKey } from '../support/golden.ts'
import { runs } from '../support/runs.ts'

const ADDRESSES = Array.from({ length: 12 }, (_, i) => addressOfBytes(new Uint8Array(32).fill(i + 1)))
const MINTS = [...Array.from({ length: 2 }, (_, i) => addressOfBytes(new Uint8Array(32).fill(i + 100))), WRAPPED_SOL]
const PROGRAM_KEYS = [SYSTEM_PROGRAM, TOKEN_PROGRAM, PROGRAMS.dbc.id, PROGRAMS.dammV2.id, PROGRAMS.distributor.id]
const KEYS = [...ADDRESSES, ...PROGRAM_KEYS]
const U64 = (1n << 64n) - 1n

const lamports = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 15n }))
const held = fc.record({
  mint: fc.constantFrom(...MINTS),
  owner: fc.constantFrom(...ADDRESSES, DBC_POOL_AUTHORITY),
  decimals: fc.constant(6),
  before: fc.bigInt({ min: 0n, max: U64 }),
  after: fc.bigInt({ min: 0n, max: U64 }),
})
const DISCRIMINATORS = [
  '08ec5931987db151',
  '52dcfabd03556b2d',
  'a8ad4864c962265c',
  'f8c69e91e17587c8',
  '8c55d7b06636684f',
  'b4269a118521a2d3',
]
/** Instructions of real names over any accounts, and of no meaning at all. */
const instruction = fc.record({
  programIdIndex: fc.integer({ min: ADDRESSES.length, max: KEYS.length - 1 }),
  accounts: fc.uint8Array({ minLength: 0, maxLength: 16, max: ADDRESSES.length - 1 }),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc
      .tuple(fc.constantFrom(...DISCRIMINATORS), fc.uint8Array({ minLength: 24, maxLength: 24 }))
      .map(([name, rest]) => Uint8Array.from([...Buffer.from(name, 'hex'), ...rest])),
    fc.tuple(fc.constantFrom(0, 2), fc.bigInt({ min: 0n, max: 10n ** 12n })).map(([tag, amount]) => {
      const data = Buffer.alloc(52)
      data.writeUInt32LE(tag, 0)
      data.writeBigUInt64LE(amount, 4)
      return Uint8Array.from(data)
    }),
    fc.tuple(fc.constantFrom(3, 7, 8, 9, 12), fc.bigInt({ min: 0n, max: U64 })).map(([tag, amount]) => {
      const data = Buffer.alloc(10)
      data.writeUInt8(tag, 0)
      data.writeBigUInt64LE(amount, 1)
      return Uint8Array.from(data)
    }),
  ),
})

/** Lamports are neither made nor lost: the first account makes up for the others and the fee. */
const executed: fc.Arbitrary<ExecutedBalances> = fc
  .record({
    before: fc.array(lamports, { minLength: ADDRESSES.length, maxLength: ADDRESSES.length }),
    after: fc.array(lamports, { minLength: ADDRESSES.length, maxLength: ADDRESSES.length }),
    holdings: fc.array(fc.uniqueArray(held, { maxLength: 2, selector: ({ mint }) => mint }), {
      minLength: ADDRESSES.length,
      maxLength: ADDRESSES.length,
    }),
    instructions: fc.array(instruction, { maxLength: 8 }),
    fee: fc.bigInt({ min: 0n, max: 10n ** 7n }),
    isFailed: fc.boolean(),
    signers: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ before, after, holdings, instructions, fee, isFailed, signers }) => {
    const changed = after.slice(1).reduce((sum, amount, i) => sum + amount - before[i + 1]!, 0n)
    const first = 10n ** 17n
    const accounts = KEYS.map((address, i) => ({
      address,
      before: i === 0 ? first : (before[i] ?? 1n),
      after: i === 0 ? first - changed - fee : (after[i] ?? 1n),
      holdings: holdings[i] ?? [],
    }))
    const message = {
      ...{
        version: 0 as const,
        signers,
        readonlySigners: 0,
        readonlyOthers: 0,
        keys: KEYS,
        recentBlockhash: SYSTEM_PROGRAM,
      },
      ...{ blockhashOffset: 0, instructions, lookups: [], config: null },
    }
    return { slot: 1, at: 0, isFailed, message, inner: new Map(), fee, accounts }
  })

const known: KnownAddresses = {
  platform: new Set([ADDRESSES[1]!]),
  creators: new Map([[ADDRESSES[2]!, ADDRESSES[3]!]]),
  vestings: new Map(),
  goldMint: MINTS[0],
  holders: new Set([ADDRESSES[4]!]),
  isSubmitted: false,
}

describe('postings', () => {
  it('of any balances add up to zero per token, and to the change of each account', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(executed, (run) => {
        const postings = postingsOf(run, known)
        const sums = new Map<string, bigint>()
        const byToken = new Map<string, bigint>()
        for (const { account, token, amount, balanceAfter } of postings) {
          expect(amount).not.toBe(0n)
          sums.set(`${account} ${token}`, (sums.get(`${account} ${token}`) ?? 0n) + amount)
          byToken.set(token, (byToken.get(token) ?? 0n) + amount)
          if (account === NETWORK) expect(balanceAfter).toBeNull()
        }
        for (const [token, sum] of byToken) expect(sum, token).toBe(0n)
        for (const { address, before, after, holdings } of run.accounts) {
          expect(sums.get(`${address} ${SOL}`) ?? 0n).toBe(after - before)
          for (const { mint, before: had, after: has } of holdings) {
            if (mint !== WRAPPED_SOL) expect(sums.get(`${address} ${mint}`) ?? 0n).toBe(has - had)
          }
        }
        expect(sums.get(`${NETWORK} ${SOL}`) ?? 0n).toBe(run.fee)
        expect(postings.some(({ token }) => token === WRAPPED_SOL)).toBe(false)
      }),
      { numRuns: runs(50, 500) },
    )
  })

  it('of a claim show who got what, and add up to what left the pool', () => {
    const share = fc.record({
      wallet: fc.constantFrom(...ADDRESSES.slice(4)),
      amount: fc.bigInt({ min: 1n, max: U64 }),
    })
    fc.assert(
      fc.property(fc.array(share, { maxLength: 10 }), fc.bigInt({ min: 0n, max: U64 }), (shares, rest) => {
        const [pool, claimer] = [ADDRESSES[0]!, ADDRESSES[1]!]
        const quote = shares.reduce((sum, { amount }) => sum + amount, rest)
        const of = { token: SOL, detail: 'dbc', pool }
        const entries = [
          {
            ...of,
            owner: DBC_POOL_AUTHORITY,
            amount: String(-quote),
            kind: 'claim',
            party: 'pool',
            counterparty: claimer,
          },
          { ...of, owner: claimer, amount: String(quote), kind: 'claim', party: 'partner', counterparty: pool },
          ...shares.flatMap(({ wallet, amount }) => [
            {
              ...of,
              owner: claimer,
              amount: String(-amount),
              kind: 'split_share',
              party: 'partner',
              counterparty: wallet,
            },
            {
              ...of,
              owner: wallet,
              amount: String(amount),
              kind: 'split_share',
              party: 'recipient',
              counterparty: claimer,
            },
          ]),
        ]
        const claimed = { address: pool, base_mint: MINTS[0]!, quote_mint: WRAPPED_SOL }
        const amounts = claimAmounts(entries, claimed, { kind: 'dbc', claimer })
        expect(amounts).toMatchObject({ quote_amount: String(quote), base_amount: '0', lamports: String(quote) })
        const received = JSON.parse(amounts.received_json!) as { wallet: string; amount: string }[]
        expect(received.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(quote)
        expect(received.find(({ wallet }) => wallet === claimer)?.amount ?? '0').toBe(String(rest))
      }),
    )
  })

  it('add up parts of amounts without loss', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -U64, max: U64 }), { maxLength: 50 }), (amounts) => {
        const parts = amounts.map(amountParts)
        const high = parts.reduce((sum, { amount_high }) => sum + BigInt(amount_high), 0n)
        const low = parts.reduce((sum, { amount_low }) => sum + BigInt(amount_low), 0n)
        expect(amountOfParts({ high: String(high), low: String(low) })).toBe(
          amounts.reduce((sum, each) => sum + each, 0n),
        )
      }),
    )
  })
})

describe('an answer of a node', () => {
  it('without balances, or with those of another transaction, is not used', () => {
    const answer = (meta: object) => () => balancesIn({ slot: 1, blockTime: 1, transaction: [''], meta }, 'x')
    for (const meta of [{}, { preBalances: [1] }, { preBalances: [1], postBalances: ['1'], fee: 1 }]) {
      expect(answer(meta)).toThrow()
    }
    expect(goldenKey(1)).toBeDefined()
  })
})

describe('the accountant’s file', () => {
  it('has no text that a spreadsheet would evaluate, and unchanged numbers', () => {
    expect(csvLine(['=1+1', '@x', '+5', '-5', '-5.25', '-a', 'a,"b"\r\n', null, 7])).toBe(
      `'=1+1,'@x,'+5,-5,-5.25,'-a,"a,""b""\\u000d\\u000a",,7\r\n`,
    )
  })

  it('has no cell that starts a formula after `;` or with a full-width sign', () => {
    const cells = [
      'a;=1+1',
      'a; -2',
      'a;\t=x',
      '＝1+1',
      '＋1',
      '－1',
      '＠x',
      'a;＝1',
      '\t=1',
      '\rx',
      ' =1',
      'a-1;b=2',
      '-5',
    ]
    expect(csvLine(cells)).toBe(
      "a;'=1+1,a;' -2,a;'\\u0009'=x,'＝1+1,'＋1,'－1,'＠x,a;'＝1,'\\u0009=1,'\\u000dx,' =1,a-1;b=2,-5\r\n",
    )
  })

  it('has exact values, and months from their first to their last millisecond', () => {
    expect(pricedValue({ amount: '-1500000000', decimals: 9, price: '150.25' })).toBe('-225.375')
    expect(pricedValue({ amount: '1', decimals: 9, price: '0.3' })).toBe('0.0000000003')
    expect(pricedValue({ amount: '1', decimals: 9, price: null })).toBeNull()
    expect(monthRange('2026-12')).toEqual({
      created_after: '2026-11-30T23:59:59.999Z',
      created_before: '2027-01-01T00:00:00.000Z',
    })
    expect(() => monthRange('2026-13')).toThrow('month like 2026-11')
  })
})
