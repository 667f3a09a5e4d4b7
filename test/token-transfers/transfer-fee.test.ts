/** What a Token-2022 mint may keep of a transfer, of the two fees of which one is in force. */
import { describe, expect, it } from 'vitest'
import { greatestTransferFee } from '../../src/operations/token-transfers/transfer-faults.ts'

const feeOf = (older: [number, bigint], newer: [number, bigint]) => {
  const of = ([basisPoints, maximumFee]: [number, bigint]) => ({ epoch: 0n, basisPoints, maximumFee })
  return greatestTransferFee({ extensions: { transferFee: { older: of(older), newer: of(newer) } } as never })
}

describe('the fee of a transfer', () => {
  it('is zero if neither of the two withholds anything', () => {
    expect(feeOf([0, 5n], [100, 0n])).toBeNull()
    expect(greatestTransferFee({ extensions: null })).toBeNull()
  })

  it('is the greatest share and the greatest maximum of those that withhold something', () => {
    expect(feeOf([100, 0n], [50, 2n ** 64n - 1n])).toEqual({ basisPoints: 50, maximumFee: 2n ** 64n - 1n })
    expect(feeOf([500, 1n], [400, 1_000n])).toEqual({ basisPoints: 500, maximumFee: 1_000n })
  })
})
