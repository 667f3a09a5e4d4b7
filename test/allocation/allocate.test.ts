/** Allocations to holders: sums that are exact, rules, tiers, who is left out and why, canonical CSV. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ALLOCATION_OUTCOMES,
  type AllocationInput,
  allocate,
  shareByWeight,
} from '../../src/merkle/allocation/allocate.ts'
import { AllocationFault } from '../../src/merkle/allocation/fault.ts'
import { parseFormula } from '../../src/merkle/allocation/formula.ts'
import type { HolderKind } from '../../src/merkle/allocation/holder-kinds.ts'
import {
  HOLDER_ROW_BYTES,
  type HolderRows,
  holderRows,
  NO_PROGRAM,
  writeHolder,
} from '../../src/merkle/allocation/holder-rows.ts'
import { parseAddressList, parseTiers } from '../../src/merkle/allocation/input-lines.ts'
import { fraction, wholeNumber } from '../../src/merkle/allocation/rational.ts'
import { recipientCsv } from '../../src/merkle/allocation/recipient-list.ts'
import { bytesSource } from '../../src/merkle/csv-source.ts'
import { entryAt, totalAmount } from '../../src/merkle/entry-list.ts'
import { readRecipientCsv } from '../../src/merkle/recipient-tree.ts'
import { byteKey } from '../../src/solana/addresses.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { keyBytes, keyOf } from '../support/holders.ts'

const wallets = (count: number) =>
  Array.from({ length: count }, (_, n) => keyBytes(`wallet ${n}`)).sort((one, other) => Buffer.compare(one, other))

function rowsOf(holders: readonly { amount: bigint; kind?: HolderKind }[]): HolderRows {
  const bytes = new Uint8Array(holders.length * HOLDER_ROW_BYTES)
  wallets(holders.length).forEach((owner, i) => {
    writeHolder(bytes, i, owner, { kind: 'wallet', isFrozen: false, program: NO_PROGRAM, ...holders[i]! })
  })
  return holderRows(bytes)
}

const NOTHING = {
  min: 0n,
  excluded: new Set<string>(),
  included: new Set<string>(),
  supply: 1_000n,
  units: { balance: 0, amount: 0 },
}
const allocated = (amounts: readonly bigint[], rule: AllocationInput['rule'], more: Partial<AllocationInput> = {}) =>
  allocate({ ...NOTHING, rows: rowsOf(amounts.map((amount) => ({ amount }))), rule, ...more })
const shown = ({ amounts, outcomes }: ReturnType<typeof allocate>) =>
  [...amounts].map((amount, i) => (amount === 0n ? ALLOCATION_OUTCOMES[outcomes[i]!] : Number(amount)))

const u64 = fc.bigInt({ min: 1n, max: MAX_U64 })

describe('a total divided by weight', () => {
  it('adds up to the total, with each share within one unit of its part, in the order of the weights', () => {
    const weight = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), u64)
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 60 }), u64, (weights, total) => {
        fc.pre(weights.some((each) => each > 0n))
        const sum = weights.reduce((all, each) => all + each, 0n)
        const shares = shareByWeight(total, weights.map(wholeNumber))
        expect(shares.reduce((all, share) => all + share, 0n)).toBe(total)
        shares.forEach((share, i) => {
          const floor = (total * weights[i]!) / sum
          expect(share === floor || share === floor + 1n).toBe(true)
          if (weights[i] === 0n) expect(share).toBe(0n)
          for (const [j, other] of shares.entries()) if (weights[i]! > weights[j]!) expect(share >= other).toBe(true)
        })
      }),
    )
  })

  it('accepts fractions as weights, as exactly as integers', () => {
    const part = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.constantFrom(1n, 2n, 3n, 7n, 1_000n))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 30 }), u64, (parts, total) => {
        const shares = shareByWeight(
          total,
          parts.map(([n, d]) => fraction(n, d)),
        )
        const whole = shareByWeight(
          total,
          parts.map(([n, d]) => wholeNumber((n * 42_000n) / d)),
        )
        expect(shares.reduce((all, share) => all + share, 0n)).toBe(total)
        expect(shares).toEqual(whole)
      }),
    )
  })

  it('gives remaining units to the largest remainders, and to the first of equal ones', () => {
    const numbers = (total: bigint, ...weights: bigint[]) => shareByWeight(total, weights.map(wholeNumber)).map(Number)
    expect(numbers(10n, 1n, 1n, 1n)).toEqual([4, 3, 3])
    expect(numbers(100n, 335n, 333n, 332n)).toEqual([34, 33, 33])
    expect(numbers(2n, 1n, 1n, 1n, 1n)).toEqual([1, 1, 0, 0])
    expect(() => numbers(2n, 0n, 0n)).toThrow('every weight is 0')
  })
})

describe('an allocation', () => {
  it('divides a total by balance, or by the value of a formula', () => {
    expect(shown(allocated([100n, 300n], { kind: 'total', total: 40n, weights: null }))).toEqual([10, 30])
    const weights = parseFormula('sqrt(balance)')
    expect(shown(allocated([100n, 400n], { kind: 'total', total: 30n, weights }))).toEqual([10, 20])
  })

  it('gives the same to all, an amount by tier, or the value of a formula rounded down', () => {
    expect(shown(allocated([1n, 2n], { kind: 'equal', amount: 5n }))).toEqual([5, 5])
    const tiers = parseTiers('from,to,amount\n10,100,1\n100,,7\n', { balance: 0, amount: 0 })
    expect(shown(allocated([9n, 10n, 99n, 100n, 5_000n], { kind: 'tiers', tiers }))).toEqual(['no_tier', 1, 1, 7, 7])
    const formula = parseFormula('balance / 3')
    expect(shown(allocated([2n, 3n, 11n], { kind: 'formula', formula }))).toEqual(['zero', 1, 3])
  })

  it('reads balances and amounts in whole tokens by their decimals', () => {
    const formula = parseFormula('min(balance * 2, 1000)')
    const units = { balance: 9, amount: 6 }
    const balances = [1_500_000_000n, 900_000_000_000n, 1n]
    expect(shown(allocated(balances, { kind: 'formula', formula }, { units }))).toEqual([
      3_000_000,
      1_000_000_000,
      'zero',
    ])
    const tiers = parseTiers('0.5, 2 , 1.25', units)
    expect(tiers[0]).toMatchObject({ from: 500_000_000n, to: 2_000_000_000n, amount: 1_250_000n })
  })

  it('leaves out non-wallets, then exclusions, then small balances, and adds named wallets', () => {
    const rows = rowsOf([
      { amount: 5n },
      { amount: 500n, kind: 'damm_v2_vault' },
      { amount: 500n, kind: 'pda' },
      { amount: 500n },
      { amount: 9n },
      { amount: 50n, kind: 'pda' },
    ])
    const keys = wallets(6).map(byteKey)
    const result = allocate({
      ...NOTHING,
      rows,
      rule: { kind: 'equal', amount: 1n },
      min: 10n,
      excluded: new Set([keys[3]!, keys[5]!]),
      included: new Set([keys[2]!, keys[5]!]),
    })
    expect(shown(result)).toEqual(['below_min', 'kind', 1, 'excluded', 'below_min', 'excluded'])
    expect(result).toMatchObject({ kept: 1, total: 1n })
  })

  it('counts only remaining wallets in formulas: their number and their balances', () => {
    const formula = parseFormula('held * 100 + holders')
    const rows = rowsOf([{ amount: 5n }, { amount: 7n, kind: 'program' }, { amount: 8n }])
    expect(shown(allocate({ ...NOTHING, rows, rule: { kind: 'formula', formula } }))).toEqual([1302, 'kind', 1302])
  })

  it('refuses an empty list, zero, too much and negative amounts, and names the wallet', () => {
    const fails = (act: () => unknown) => {
      try {
        act()
      } catch (error) {
        expect(error).toBeInstanceOf(AllocationFault)
        return (error as Error).message
      }
      return 'taken'
    }
    const first = base58.encode(wallets(1)[0]!)
    const by = (text: string) => ({ kind: 'formula', formula: parseFormula(text) }) as const
    expect(fails(() => allocated([1n], { kind: 'equal', amount: 1n }, { min: 2n }))).toMatch(/no holder is left/)
    expect(fails(() => allocated([1n], by('balance / 2')))).toMatch(/every holder would get nothing/)
    expect(fails(() => allocated([1n], by('balance - 2')))).toBe(
      `the formula gives ${first} a negative number: use max(0, …)`,
    )
    expect(fails(() => allocated([1n], by('balance / (balance - 1)')))).toBe(`division by zero (for ${first})`)
    expect(fails(() => allocated([1n], by(`${MAX_U64} + 1`)))).toMatch(new RegExp(`gives ${first} more than`))
    expect(fails(() => allocated([1n, 1n], { kind: 'equal', amount: MAX_U64 }))).toMatch(/raw units in all, more than/)
  })

  it('is written as a CSV that svc merkle reads back, the same for the same input', () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 18n }), (balances, total) => {
        fc.pre(balances.some((balance) => balance > 0n))
        const rule = { kind: 'total', total, weights: null } as const
        const rows = rowsOf(balances.map((amount) => ({ amount })))
        const allocation = allocate({ ...NOTHING, rows, rule })
        const csv = recipientCsv(rows, allocation)
        expect(recipientCsv(rows, allocate({ ...NOTHING, rows, rule })).equals(csv)).toBe(true)
        const options = { name: 'list.csv', decimals: undefined, duplicates: 'reject' } as const
        const { list } = readRecipientCsv(bytesSource(csv), options)
        expect(list.count).toBe(allocation.kept)
        expect(totalAmount(list)).toBe(total)
        for (let i = 1; i < list.count; i++) {
          const [before, after] = [entryAt(list, i - 1), entryAt(list, i)].map(({ wallet }) => base58.decode(wallet))
          expect(Buffer.compare(before!, after!)).toBe(-1)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('files beside a list', () => {
  const units = { balance: 0, amount: 0 }
  const fault = (act: () => unknown) => {
    try {
      act()
    } catch (error) {
      const { at, message } = error as AllocationFault
      return `${at?.line}:${at?.column}: ${message}`
    }
    return 'taken'
  }

  it('have addresses in the first column, with or without a heading, and comments', () => {
    const [a, b] = [keyOf('a'), keyOf('b')]
    const text = `\ufeffWallet,name\r\n${a},team # ours\r\n\r\n# others\n"${b}";x\n${a}\n`
    expect([...parseAddressList(text)]).toEqual([
      [byteKey(keyBytes('a')), 2],
      [byteKey(keyBytes('b')), 5],
    ])
    expect(fault(() => parseAddressList(`${a}\nwallet\n`))).toMatch(/^2:1: /)
    expect(fault(() => parseAddressList('0x12'))).toMatch(/^1:1: "0x12" is not a Solana wallet/)
  })

  it.each([
    ['1,2', '1:1: a tier is from,to,amount'],
    ['from,to,amount\n', '1:1: there is no tier: a line is from,to,amount'],
    ['1,x,3', '1:3: "x" is not an amount'],
    ['1,2,-3', '1:5: "-3" is not an amount'],
    ['5,5,1', '1:3: a tier must end above its start: 5 to 5'],
    ['0,10,1\n9,20,1', '2:1: the tiers of lines 1 and 2 overlap'],
    ['9,20,1\n0,,1', '1:1: the tiers of lines 2 and 1 overlap'],
    ['1.5,2,3', '1:1: 1.5 must be a whole number of raw units'],
    ['1,2,99999999999999999999', '1:5: 99999999999999999999 is more than a token account can hold'],
  ])('refuse the tiers %j with the position', (text, message) => {
    expect(fault(() => parseTiers(text, units))).toBe(message)
  })
})
