/** Derives the API keys, sponsorships, fee schedules and approvers that the audit log implies, and compares them with the rows. */

import { allSponsorships } from '../../store/airdrops/sponsorships.ts'
import { allFeeSchedules } from '../../store/fees/fee-schedules.ts'
import { allApprovers } from '../../store/proposals/approvers.ts'
import { allApiKeys } from '../../store/requests/api-keys.ts'
import type { Reader } from '../../store/store.ts'
import { apiKeyTerms } from '../api-keys.ts'
import { approverTerms } from '../approvers.ts'
import { scheduleTerms } from '../fee-schedules/records.ts'
import { sponsorshipTerms } from '../sponsorships/sponsorship-record.ts'

export type AuditDetails = Record<string, unknown>

/** How a row differs from the entry `sequence`, which is 0 without an entry. */
export interface Difference {
  sequence: number
  why: string
}

interface ExpectedRow {
  /** The row according to its last entry; null once it was revoked or deleted. */
  terms: AuditDetails | null
  sequence: number
}

interface StoredRow {
  id: string
  /** False for a key that was revoked. */
  isLive: boolean
  terms: AuditDetails
}

interface Kind {
  name: string
  /** Field of an entry with the row's id. */
  id: string
  /** Terms that are compared. */
  compared: readonly string[]
  rows(reader: Reader): Promise<StoredRow[]>
}

/** Content that svc did not write differs from every entry, but must not abort the check. */
function readable(terms: () => AuditDetails): AuditDetails {
  try {
    return terms()
  } catch {
    return {}
  }
}

const KINDS = {
  keys: {
    name: 'API key',
    id: 'key',
    compared: ['scopes', 'rate_limit_per_minute', 'rate_limit_per_day', 'sha256'],
    rows: async (reader) =>
      (await allApiKeys(reader)).map((row) => ({
        id: row.id,
        isLive: row.status !== 'revoked',
        terms: readable(() => apiKeyTerms(row)),
      })),
  },
  sponsorships: {
    name: 'sponsorship',
    id: 'airdrop',
    compared: ['root', 'budget', 'enabled'],
    rows: async (reader) =>
      (await allSponsorships(reader)).map((row) => ({
        id: row.airdrop_id,
        isLive: true,
        terms: sponsorshipTerms(row),
      })),
  },
  schedules: {
    name: 'fee schedule',
    id: 'schedule',
    compared: ['cron', 'timezone', 'active', 'terms_sha256'],
    rows: async (reader) =>
      (await allFeeSchedules(reader)).map((row) => ({
        id: row.id,
        isLive: true,
        terms: readable(() => scheduleTerms(row)),
      })),
  },
  approvers: {
    name: 'approver',
    id: 'approver',
    compared: ['name', 'key'],
    rows: async (reader) =>
      (await allApprovers(reader)).map((row) => ({
        id: row.address,
        isLive: row.revoked_at === null,
        terms: approverTerms(row),
      })),
  },
} as const satisfies Record<string, Kind>
type KindName = keyof typeof KINDS
const KIND_NAMES = Object.keys(KINDS) as KindName[]

/** Actions of each kind: true if the entry states the row's content, false if it ends the row. */
const CHANGES: Record<string, [KindName, boolean]> = {
  'api_key.created': ['keys', true],
  'api_key.revoked': ['keys', false],
  'sponsorship.changed': ['sponsorships', true],
  'fee_schedule.created': ['schedules', true],
  'fee_schedule.updated': ['schedules', true],
  'fee_schedule.deleted': ['schedules', false],
  'approver.added': ['approvers', true],
  'approver.removed': ['approvers', false],
}
export const ROW_ACTIONS: readonly string[] = Object.keys(CHANGES)

export function expectedRows() {
  const expected: Record<KindName, Map<string, ExpectedRow>> = {
    keys: new Map(),
    sponsorships: new Map(),
    schedules: new Map(),
    approvers: new Map(),
  }
  function set(kind: KindName, details: AuditDetails, sequence: number, terms: AuditDetails | null): void {
    expected[kind].set(String(details[KINDS[kind].id]), { terms, sequence })
  }

  function apply(action: string, details: AuditDetails, sequence: number): void {
    const change = CHANGES[action]
    if (change !== undefined) set(change[0], details, sequence, change[1] ? details : null)
  }

  /** The rows that exist, for an anchor of the log. */
  const toJson = () =>
    Object.fromEntries(
      KIND_NAMES.map((kind) => [
        kind,
        Object.fromEntries([...expected[kind]].filter(([, { terms }]) => terms !== null)),
      ]),
    )

  function restore(stored: Record<string, unknown>): void {
    for (const kind of KIND_NAMES) {
      expected[kind] = new Map(Object.entries((stored[kind] ?? {}) as Record<string, ExpectedRow>))
    }
  }

  /** Returns the first row that does not match the entries. */
  async function difference(reader: Reader): Promise<Difference | null> {
    for (const kind of KIND_NAMES) {
      const { name, compared, rows } = KINDS[kind]
      const known = new Map(expected[kind])
      for (const row of await rows(reader)) {
        const entry = known.get(row.id)
        known.delete(row.id)
        const why = rowFault(row, entry, compared)
        if (why !== null) return { sequence: entry?.sequence ?? 0, why: `the ${name} ${row.id} ${why}` }
      }
      for (const [id, { terms, sequence }] of known) {
        if (terms !== null) return { sequence, why: `the ${name} ${id} is gone` }
      }
    }
    return null
  }

  return { apply, toJson, restore, difference }
}

function rowFault(
  { isLive, terms }: StoredRow,
  entry: ExpectedRow | undefined,
  compared: readonly string[],
): string | null {
  if (entry === undefined) return isLive ? 'has no entry: svc did not create it' : null
  if (entry.terms === null) return isLive ? 'exists, although this entry ended it' : null
  if (!isLive) return 'is revoked without an entry'
  const said = entry.terms
  const field = compared.find((name) => JSON.stringify(said[name]) !== JSON.stringify(terms[name]))
  return field === undefined ? null : `has another ${field} than in this entry`
}
