/** Two readings of the accounts of a transaction: which state a movement is measured from, and when there is none. */
import { describe, expect, it } from 'vitest'
import { reconcileReadings } from '../../src/policy/movement/reconcile-readings.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'

const WALLET = 'So11111111111111111111111111111111111111112'
const OTHER = 'Vote111111111111111111111111111111111111111'
const holding = (lamports: bigint): ChainAccount => ({
  ...{ lamports, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false },
})
const measured = (address: string, from: bigint, to: bigint, isLast: boolean) =>
  reconcileReadings(WALLET, [address], [holding(from)], [holding(to)], isLast)?.map((one) => one?.lamports)

describe('two readings', () => {
  it('give no state if the wallet itself has changed, unless dust keeps arriving', () => {
    for (const [from, to] of [
      [5n, 9n],
      [9n, 5n],
    ] as const) {
      expect(measured(WALLET, from, to, false)).toBeUndefined()
      // The larger balance shows the larger loss.
      expect(measured(WALLET, from, to, true)).toEqual([9n])
    }
  })

  it('of another account are measured from the smaller balance, which shows the larger gain', () => {
    expect(measured(OTHER, 5n, 9n, false)).toEqual([5n])
    expect(measured(OTHER, 9n, 5n, false)).toEqual([5n])
  })

  it('of an account that one of them lacks cannot be reconciled', () => {
    expect(reconcileReadings(WALLET, [OTHER], [null], [holding(1n)], false)).toBeNull()
  })
})
