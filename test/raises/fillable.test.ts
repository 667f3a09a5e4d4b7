/** Random terms: a raise that is accepted can always reach its minimum, whatever its buyers deposit. */
import { describe, expect, it } from 'vitest'
import { depositLimits, type Raise, wholePart } from '../../src/chain/programs/presale/index.ts'
import { type CreateInput, checkedTerms } from '../../src/operations/raises/terms.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { RaiseTerms } from '../../src/solana/raises.ts'
import { randomOf } from '../support/random.ts'

const NOW = 1_800_000_000n
const { below } = randomOf(7)
const upTo = (most: bigint) => BigInt(below(Number(most)))

/** The account with these terms, as far as deposits depend on it. */
const accountOf = (terms: RaiseTerms) =>
  ({ ...terms, deposited: 0n, rounds: terms.rounds.map((round) => ({ ...round, deposited: 0n })) }) as unknown as Raise

/** Buyers come one after another and deposit at random, until a new one cannot deposit any more. */
function filled(terms: RaiseTerms): bigint {
  let raise = accountOf(terms)
  for (let buyers = 0; buyers < 10_000; buyers++) {
    const { least, most } = depositLimits(raise, { round: 0 }, NOW)
    if (most === 0n) return raise.deposited
    const asked = below(3) === 0 ? most : least + upTo(most - least + 1n)
    const deposited = raise.deposited + wholePart(raise.price, asked)
    raise = { ...raise, deposited, rounds: [{ ...raise.rounds[0]!, deposited }] }
  }
  throw new Error('it takes too many buyers')
}

/** Small amounts, so that what remains matters. */
function randomInput(): CreateInput {
  const max = 20 + below(400)
  const buyerMax = 1 + below(max)
  const sale = below(3) > 0 ? { price: `${below(12)}.${1 + below(99)}` } : { supply: String(1 + below(500)) }
  return {
    ...{ sale_mode: 'price' in sale ? 'fixed_price' : 'first_come', ...sale },
    ...{ max: String(max), min: String(1 + below(max)), buyer_max: String(buyerMax) },
    ...(below(2) === 0 ? {} : { buyer_min: String(1 + below(buyerMax)) }),
    ...{ ends_at: new Date((Number(NOW) + 3_600) * 1_000).toISOString(), vesting_seconds: 0, unsold: 'return' },
    ...{ allowlist: false, early_end: true, deposit_fee_bps: 0 },
  } as unknown as CreateInput
}

/** The terms, or the figure that the refusal of the minimum names. */
function checked(input: CreateInput): RaiseTerms | { most: string } | null {
  try {
    return checkedTerms(input, { now: NOW, decimals: { token: 0, quote: 0 } })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return (error.details as { most: string } | undefined)?.most === undefined ? null : (error.details as never)
  }
}

describe('random terms', () => {
  it('that are accepted reach their minimum, and so do those of a refusal', () => {
    const counts = { accepted: 0, lowered: 0 }
    for (let i = 0; i < 4_000; i++) {
      const input = randomInput()
      let terms = checked(input)
      if (terms !== null && 'most' in terms && BigInt(terms.most) > 0n) {
        counts.lowered++
        terms = checked({ ...input, min: terms.most })
        expect(terms, JSON.stringify(input)).toHaveProperty('minimum')
      } else if (terms !== null) counts.accepted++
      if (terms === null || 'most' in terms) continue
      for (let run = 0; run < 3; run++) {
        const reached = filled(terms)
        expect(reached >= terms.minimum, `${JSON.stringify(input)} ends at ${reached}`).toBe(true)
      }
    }
    expect(counts.accepted).toBeGreaterThan(500)
    expect(counts.lowered).toBeGreaterThan(50)
  })
})
