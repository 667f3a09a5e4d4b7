/** The table of `svc fees list`. */
import { describe, expect, it } from 'vitest'
import { historyTable } from '../../commands/fees/index.ts'
import { metricsOutcome } from '../../commands/pools/record.ts'
import type { FeeClaim } from '../../src/api/fee-claims.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'

const claim = (changes: Partial<FeeClaim>): FeeClaim => ({
  id: 'fcl_1',
  type: 'fee_claim.executed',
  pool_address: 'pool',
  kind: 'dbc',
  beneficiary: 'creator',
  claimer: 'wallet',
  signature: 'signature',
  occurred_at: '2026-11-23T18:00:00.000Z',
  external_uid: null,
  metadata: null,
  quote: null,
  base: null,
  sol: null,
  received: null,
  ...changes,
})
const amountsOf = (changes: Partial<FeeClaim>) =>
  historyTable([claim(changes)])
    .rows[0]!.slice(3, 6)
    .map((cell) => cell && String(cell))

describe('svc fees metrics', () => {
  const metrics = { pool_address: 'pool', partner_quote_fee: '1234567890', surplus_status: 'unknown' as const }
  const shown = (raw: unknown) => metricsOutcome({ ...metrics, partner_base_fee: '2500000', raw }).record

  it("shows fees in the pool's quote and token, by their decimals", () => {
    const config = { quoteMint: WRAPPED_SOL, tokenDecimal: 6 }
    expect(shown({ config, quote_decimals: 9 })).toMatchObject({
      partner_quote_fee: '1.23456789 SOL',
      partner_base_fee: '2.5 tokens',
    })
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    expect(shown({ config: { ...config, quoteMint: usdc }, quote_decimals: 6 })).toMatchObject({
      quote_mint: usdc,
      partner_quote_fee: '1,234.56789 EPjF…Dt1v',
    })
  })

  it('shows raw units if the state of the pool is unknown', () => {
    expect(shown(undefined)).toMatchObject({ partner_quote_fee: '1,234,567,890 raw units' })
  })
})

describe('svc fees list', () => {
  it('shows what a claim paid in SOL, and to whom', () => {
    const received = [
      { wallet: 'one', token: 'SOL', amount: '36000000' },
      { wallet: 'two', token: 'SOL', amount: '12000000' },
    ]
    expect(amountsOf({ sol: '48000000', quote: '48000000', base: '0', received })).toEqual([
      '0.048',
      null,
      'one 0.036 SOL, two 0.012 SOL',
    ])
  })

  it('shows another quote token and the token in raw units', () => {
    const received = [{ wallet: 'one', token: 'usdc', amount: '7' }]
    expect(amountsOf({ sol: '0', quote: '7', base: '9', received })).toEqual([
      '0',
      '7 of the quote, 9 of the token',
      'one 7 of usdc',
    ])
  })

  it('says that a claim is not final yet, whose amounts are known only then', () => {
    expect(amountsOf({})).toEqual(['not final yet', null, null])
  })

  it('shows no amounts of a daemon that does not know them', () => {
    expect(amountsOf({ sol: undefined })).toEqual([null, null, null])
  })
})
