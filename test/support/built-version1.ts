/** Transactions of version 1 in tests: as the service builds them, and what their config says. */
import { expect } from 'vitest'
import { type DecodedTransaction, decodeWireTransaction } from '../../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../../src/solana/program-ids.ts'
import { keypairOf } from './wallets.ts'

export { keypairOf }

const PAGE_BYTES = 32 * 1024
export const MOST_LOADED = 64 * 1024 * 1024

/** Decodes a transaction that was built as version 1, and holds its config against what every such one has. */
export function expectVersion1(wire: Uint8Array, { hasFee = true } = {}): DecodedTransaction {
  const decoded = decodeWireTransaction(wire)
  const { version, config, keys, instructions } = decoded.message
  expect(version).toBe(1)
  // Such an instruction has no effect in this version, and whoever reads one would believe a wrong fee.
  expect(instructions.map(({ programIdIndex }) => keys[programIdIndex])).not.toContain(COMPUTE_BUDGET_PROGRAM)
  const { computeUnitLimit, loadedAccountsDataSizeLimit, priorityFeeLamports, heapSize } = config!
  expect(computeUnitLimit).toBeGreaterThan(0)
  expect(loadedAccountsDataSizeLimit! % PAGE_BYTES).toBe(0)
  expect(loadedAccountsDataSizeLimit).toBeGreaterThan(0)
  expect([priorityFeeLamports !== null, heapSize]).toEqual([hasFee, null])
  return decoded
}
