/** The eleventh migration: tokens and pools are found by their symbol, and pools by their mint. */
import { type Kysely, sql } from 'kysely'
import { runStatements, type SteppedMigration } from './dialect.ts'

const TOKENS_PER_STEP = 100

export const symbolSearch = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table tokens add column symbol text',
      'create index tokens_by_symbol on tokens (upper(symbol), seq)',
      'drop index pools_by_ticker',
      'create index pools_by_symbol on pools (upper(symbol), seq)',
      'drop index pools_by_base_mint',
      'create index pools_by_mint on pools (base_mint, seq)',
    ]),
  async fill(db: Kysely<never>, after) {
    const { rows } = await sql<{ seq: number; raw_json: string }>`select seq, raw_json from tokens
      where seq > ${Number(after)} and raw_json is not null order by seq limit ${TOKENS_PER_STEP}`.execute(db)
    for (const { seq, raw_json } of rows) {
      const symbol = symbolIn(raw_json)
      if (symbol !== null) await sql`update tokens set symbol = ${symbol} where seq = ${seq}`.execute(db)
    }
    const last = rows.at(-1)
    return rows.length < TOKENS_PER_STEP || last === undefined ? null : String(last.seq)
  },
})

/** The symbol as this version stores it. A record that cannot be read has none. */
function symbolIn(raw: string): string | null {
  try {
    const symbol: unknown = JSON.parse(raw)?.metadata?.symbol
    if (typeof symbol !== 'string') return null
    const shown = symbol.replaceAll('\0', '').normalize('NFC').trim()
    return [...shown].slice(0, 32).join('') || null
  } catch {
    return null
  }
}
