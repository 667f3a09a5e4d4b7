/** Verifies the audit log: sequence numbers, hashes, seals and the number of entries. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { auditHash, auditSeal, COUNTER, FIRST_HASH, lastAudit, type Sealing } from './audit-entries.ts'
import { rowsWithin } from './paging.ts'
import type { Row } from './schema.ts'
import type { Reader } from './store.ts'

export interface AuditVerdict {
  /** Number of valid entries. */
  entries: number
  /** Hash of the last valid entry. */
  head: string
  /** First invalid entry; null when all are valid. */
  broken: { sequence: number; why: string } | null
}

const ENTRIES_PER_READ = 1_000

/** Creates a verification of the log from its first entry that can be resumed; `each` receives every valid entry. */
export function auditWalk(vault: Sealing, expected: string | undefined, each: (entry: Row<'audit_entries'>) => void) {
  let [entries, head, headFound] = [0, FIRST_HASH, expected === undefined || expected === FIRST_HASH]
  const broken = (sequence: number, why: string): AuditVerdict => ({ entries, head, broken: { sequence, why } })
  const whole = (): AuditVerdict => ({ entries, head, broken: null })

  async function forward(reader: Reader): Promise<AuditVerdict> {
    for (;;) {
      const next = reader.selectFrom('audit_entries').selectAll().where('sequence', '>', entries).orderBy('sequence')
      const weights = { details_json: 1 }
      const { rows, end } = await rowsWithin(next, { limit: ENTRIES_PER_READ, place: 'sequence', weights })
      for (const row of rows) {
        if (row.sequence !== entries + 1) return broken(entries + 1, 'the entry is missing')
        if (row.previous_hash !== head) return broken(row.sequence, 'it does not continue the entry before it')
        if (row.hash !== auditHash(row)) return broken(row.sequence, 'its fields are not those that were hashed')
        if (row.seal !== auditSeal(vault, row)) return broken(row.sequence, UNSEALED)
        ;[entries, head, headFound] = [row.sequence, row.hash, headFound || row.hash === expected]
        each(row)
      }
      if (end === null) return whole()
      // On SQLite nothing else in this loop yields to other requests.
      await nextTurn()
    }
  }

  /** Checks for entries before the first one and after the last one. */
  async function ends(reader: Reader): Promise<AuditVerdict> {
    const odd = reader.selectFrom('audit_entries').select('sequence').where('sequence', '<', 1)
    const before = await odd.limit(1).executeTakeFirst()
    if (before !== undefined) return { ...broken(before.sequence, 'no entry was ever written there') }
    const counter = await reader.selectFrom('counters').select('value').where('name', '=', COUNTER).executeTakeFirst()
    if (counter === undefined) return broken(entries + 1, 'the count of entries is missing')
    if (counter.value < entries) return broken(counter.value + 1, 'it was added past the count')
    const last = (await lastAudit(reader))?.sequence ?? 0
    if (counter.value > last) return broken(last + 1, 'the entry is missing')
    if (!headFound)
      return broken(entries + 1, `no entry has the hash ${expected}: entries were cut off or written anew`)
    return whole()
  }
  return { forward, ends }
}

const UNSEALED = "its seal is not of this installation's encryption key: something else than svc wrote it"
