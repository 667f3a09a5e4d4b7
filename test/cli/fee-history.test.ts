/** The table of `svc fees list`. */
import { describe, expect, it } from 'vitest'
import { historyTable } from '../../commands/fees/history-table.ts'
import type { FeeClaim } from '../../src/api/fee-claims.ts'

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
const amountsOf = (changes: Partial<FeeClaim>) => historyTable([claim(changes)]).rows[0]!.slice(3, 6)

describe('svc fees list', () => {
  it('shows what a claim paid in SOL, and who got what', () => {
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

  it('shows another quote and the token in raw units', () => {
    const received = [{ wallet: 'one', token: 'usdc', amount: '7' }]
    expect(amountsOf({ sol: '0', quote: '7', base: '9', received })).toEqual([
      '0',
      '7 of the quote, 9 of the token',
      'one 7 of usdc',
    ])
  })

  it('shows no amounts before a claim is final', () => {
    expect(amountsOf({})).toEqual([null, null, null])
  })
})
