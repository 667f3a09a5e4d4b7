/** Verifies the audit log from its beginning or its last anchor: sequence numbers, hashes, seals and the number of entries. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { rowsWithin } from '../queries/paging.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'
import { type AuditAnchor, anchorHolds, findAnchors, lastAnchor } from './anchors.ts'
import { auditHash, auditSeal, COUNTER, FIRST_HASH, lastAudit, type Sealing } from './entries.ts'

export interface AuditVerdict {
  /** Number of valid entries that are stored. */
  entries: number
  /** Hash of the last valid entry. */
  head: string
  /** First invalid entry; null when all are valid. */
  broken: { sequence: number; why: string } | null
}

interface AuditWalkOptions {
  vault: Sealing
  /** Hash that an entry or an anchor must have. */
  expected?: string | undefined
  /** Receives the anchor at which the stored log begins, or null for a whole log. */
  onBegin(anchor: AuditAnchor | null): void
  /** Receives every valid entry. */
  onEntry(entry: Row<'audit_entries'>): void
}

const ENTRIES_PER_READ = 1_000

/** Creates a verification of the log that can be resumed. `begin` comes first. */
export function auditWalk({ vault, expected, onBegin, onEntry }: AuditWalkOptions) {
  let [entries, head, headFound] = [0, FIRST_HASH, expected === undefined || expected === FIRST_HASH]
  /** Sequence of the last valid entry, or of the anchor. */
  let place = 0
  const broken = (sequence: number, why: string): AuditVerdict => ({ entries, head, broken: { sequence, why } })
  const whole = (): AuditVerdict => ({ entries, head, broken: null })

  async function begin(reader: Reader): Promise<AuditVerdict> {
    const anchors = await findAnchors(reader)
    const forged = anchors.find((anchor) => !anchorHolds(vault, anchor))
    if (forged !== undefined) return broken(forged.sequence, `${FOREIGN_SEAL} made the anchor of this cut`)
    headFound ||= anchors.some(({ hash }) => hash === expected)
    const last = anchors.at(-1) ?? null
    if (last !== null) [place, head] = [last.sequence, last.hash]
    onBegin(last)
    return whole()
  }

  /** Verifies the stored entries up to the sequence `to`, all by default. */
  async function forward(reader: Reader, to = Number.MAX_SAFE_INTEGER): Promise<AuditVerdict> {
    for (;;) {
      const rest = reader.selectFrom('audit_entries').selectAll().where('sequence', '>', place)
      const next = rest.where('sequence', '<=', to).orderBy('sequence')
      const weights = { details_json: 1 }
      const { rows, end } = await rowsWithin(next, { limit: ENTRIES_PER_READ, place: 'sequence', weights })
      for (const row of rows) {
        if (row.sequence !== place + 1) return broken(place + 1, 'the entry is missing')
        if (row.previous_hash !== head) return broken(row.sequence, 'it does not continue the entry before it')
        const fault = entryFault(vault, row)
        if (fault !== null) return broken(row.sequence, fault)
        ;[entries, place, head, headFound] = [entries + 1, row.sequence, row.hash, headFound || row.hash === expected]
        onEntry(row)
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
    if (before !== undefined) return { ...broken(before.sequence, 'no entry was ever written with this number') }
    const counter = await reader.selectFrom('counters').select('value').where('name', '=', COUNTER).executeTakeFirst()
    if (counter === undefined) return broken(place + 1, 'the count of entries is missing')
    if (counter.value < place) return broken(counter.value + 1, 'it was added past the count')
    const last = (await lastAudit(reader))?.sequence ?? 0
    if (counter.value > last) return broken(last + 1, 'the entry is missing')
    if (!headFound) return broken(place + 1, `no entry has the hash ${expected}: entries were cut off or rewritten`)
    return whole()
  }
  return { begin, forward, ends }
}

function entryFault(vault: Sealing, row: Row<'audit_entries'>): string | null {
  if (row.hash !== auditHash(row)) return 'its fields do not match its hash'
  return row.seal === auditSeal(vault, row) ? null : `${FOREIGN_SEAL} wrote it`
}

/**
 * Reads the entries of some actions after the last anchor and checks hash and seal of each, without the chain between
 * them. Returns the first invalid one.
 */
export async function readEntriesAbout(
  reader: Reader,
  actions: readonly string[],
  { vault, onBegin, onEntry }: Omit<AuditWalkOptions, 'expected'>,
): Promise<AuditVerdict['broken']> {
  const anchor = await lastAnchor(reader)
  if (anchor !== null && !anchorHolds(vault, anchor))
    return { sequence: anchor.sequence, why: `${FOREIGN_SEAL} made the anchor of this cut` }
  onBegin(anchor)
  for (let after = anchor?.sequence ?? 0; ; ) {
    const rows = await reader
      .selectFrom('audit_entries')
      .selectAll()
      .where('action', 'in', actions)
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(ENTRIES_PER_READ)
      .execute()
    for (const row of rows) {
      const why = entryFault(vault, row)
      if (why !== null) return { sequence: row.sequence, why }
      onEntry(row)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ENTRIES_PER_READ) return null
    after = last.sequence
  }
}

const FOREIGN_SEAL = "its seal was not made with this installation's encryption key: something other than svc"
