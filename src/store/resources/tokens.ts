/** Storage of tokens. */

import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Reader } from '../store.ts'

export const insertToken = insertingOnce('tokens')
export const findToken = finding('tokens', 'mint')
export const updateToken = updating('tokens', 'mint')
/** Without tokens whose mint is closed, which have no `raw_json`. */
export const pageTokens = listing('tokens', ['status', 'symbol'], {
  weights: { raw_json: 1, metadata_json: 1 },
  needs: 'raw_json',
  narrow: ['symbol'],
  caseless: ['symbol'],
})

const MOST_SYMBOL = 32

/** Returns a symbol as it is searched for; null if nothing is left. PostgreSQL stores no text with a zero. */
export function storedSymbol(symbol: string): string | null {
  const shown = symbol.replaceAll('\0', '').normalize('NFC').trim()
  return [...shown].slice(0, MOST_SYMBOL).join('') || null
}

/** Most mints of one look at the chain. */
const MOST_MINTS = 10_000

/** Returns the mints with a record, the newest first. */
export async function recordedMints(reader: Reader): Promise<string[]> {
  const rows = await reader.selectFrom('tokens').select('mint').orderBy('seq', 'desc').limit(MOST_MINTS).execute()
  return rows.map(({ mint }) => mint)
}
