/** Whether there is any record that a transaction on chain could have made or could change. */
import type { Reader } from './store.ts'

const TABLES = ['transactions', 'pools', 'merkle_trees', 'tokens', 'nfts', 'stakes', 'gold_locks'] as const

/** Stores that were found to have a record, which they keep from then on for all that this process does. */
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
