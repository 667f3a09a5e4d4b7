/** Finds out whether there are records that a transaction on chain can make or change, and which accounts have one. */
import type { Reader } from '../store.ts'

const TABLES = ['transactions', 'pools', 'merkle_trees', 'tokens', 'nfts', 'stakes', 'gold_locks', 'raises'] as const

/** Stores that have a record. Once found, the result stays true for this process. */
const withRecords = new WeakSet<object>()

/** Reads a row of each table until one has any. */
export async function hasRecords(reader: Reader): Promise<boolean> {
  if (withRecords.has(reader)) return true
  for (const table of TABLES) {
    const row = await reader.selectFrom(table).select('seq').limit(1).executeTakeFirst()
    if (row === undefined) continue
    withRecords.add(reader)
    return true
  }
  return false
}

/** Returns the addresses that are distributors, locks or raises with a record. */
export async function recordedHolders(reader: Reader, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set()
  const trees = reader.selectFrom('merkle_trees').select('distributor as address')
  const locks = reader.selectFrom('gold_locks').select('escrow as address')
  const raises = reader.selectFrom('raises').select('id as address')
  const found = [
    ...(await trees.where('distributor', 'in', addresses).execute()),
    ...(await locks.where('escrow', 'in', addresses).execute()),
    ...(await raises.where('id', 'in', addresses).execute()),
  ]
  return new Set(found.flatMap(({ address }) => address ?? []))
}
