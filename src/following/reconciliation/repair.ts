/** Reads listed transactions once more, as if they had just been found, and writes what is missing of them. */
import type { ListedSignature } from '../../chain/reads/history.ts'
import { endReadAgain, insertAgain } from '../../store/following/chain-transactions.ts'
import type { FollowingServices } from '../services.ts'
import { type ReadingOptions, readRows } from './reading.ts'

/**
 * Writes the records and events of the transactions, each once. `listed` is newest first, as a node lists it. Returns
 * the final ones that changed a record or a wallet of the ledger. What the budget does not reach stays for the next
 * round of the follower. Throws internal_error when the node fails.
 */
export async function readAgain(
  services: FollowingServices,
  listed: readonly ListedSignature[],
  { address, ...options }: Omit<ReadingOptions, 'isRepair'> & { address: string },
): Promise<ListedSignature[]> {
  if (listed.length === 0) return []
  const { store, clock } = services
  const { genesis } = options
  const found = listed.map(({ signature, slot }, place) => ({ signature, slot, place }))
  const rows = await store.write((tx) => insertAgain(tx, found, { genesis, address, now: clock.now() }))
  await readRows(services, rows, { ...options, isRepair: true })
  const final = listed.filter(({ isFinal }) => isFinal)
  const signatures = final.map(({ signature }) => signature)
  const read = await store.write((tx) => endReadAgain(tx, genesis, signatures))
  return final.filter(({ signature }) => read.has(signature))
}
