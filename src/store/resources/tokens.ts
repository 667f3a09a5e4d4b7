/** Storage of tokens. */

import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Reader } from '../store.ts'

export const insertToken = insertingOnce('tokens')
export const findToken = finding('tokens', 'mint')
export const updateToken = updating('tokens', 'mint')
/** Without tokens whose mint is closed, which have no `raw_json`. */
export const pageTokens = listing('tokens', ['status'], {
  weights: { raw_json: 1, metadata_json: 1 },
  needs: 'raw_json',
})

/** Most mints of one look at the chain. */
const MOST_MINTS = 10_000

/** Returns the mints with a record, the newest first. */
export async function recordedMints(reader: Reader): Promise<string[]> {
  const rows = await reader.selectFrom('tokens').select('mint').orderBy('seq', 'desc').limit(MOST_MINTS).execute()
  return rows.map(({ mint }) => mint)
}
