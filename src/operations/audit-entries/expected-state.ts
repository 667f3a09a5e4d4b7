/** Derives the policies, spends and rows that the audit log implies, and compares them with those that are stored. */

import { DAY_MS } from '../../platform/timing.ts'
import { DEFAULT_POLICY } from '../../policy/policy.ts'
import { allSponsorships, sponsorshipUses } from '../../store/airdrops/sponsorships.ts'
import type { AuditAnchor } from '../../store/audit/anchors.ts'
import { allFeeSchedules } from '../../store/fees/fee-schedules.ts'
import { allApprovers } from '../../store/proposals/approvers.ts'
import { allApiKeys } from '../../store/requests/api-keys.ts'
import type { Row } from '../../store/schema.ts'
import { listSignerPolicies, listSpendsSince } from '../../store/signing/signings.ts'
import type { Reader } from '../../store/store.ts'
import { apiKeyTerms, previousByKey } from '../api-keys.ts'
import { approverTerms } from '../approvers.ts'
import { scheduleTerms } from '../fee-schedules/records.ts'
import { policyJson } from '../signing/policy-state.ts'
import { sponsorshipTerms } from '../sponsorships/sponsorship-record.ts'

// Derives the API keys, sponsorships, fee schedules and approvers that the audit log implies, and compares them
// with the rows.

type AuditDetails = Record<string, unknown>

/** How a row differs from the entry `sequence`, which is 0 without an entry. */
interface Difference {
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
    compared: [
      'scopes',
      'rate_limit_per_minute',
      'rate_limit_per_day',
      'sha256',
      'expires_at',
      'allow_ips',
      'previous',
    ],
    rows: async (reader) => {
      const previous = await previousByKey(reader)
      return (await allApiKeys(reader)).map((row) => ({
        id: row.id,
        isLive: row.status !== 'revoked',
        terms: readable(() => apiKeyTerms(row, previous.get(row.id))),
      }))
    },
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
  'api_key.updated': ['keys', true],
  'api_key.rotated': ['keys', true],
  'api_key.revoked': ['keys', false],
  'sponsorship.changed': ['sponsorships', true],
  'fee_schedule.created': ['schedules', true],
  'fee_schedule.updated': ['schedules', true],
  'fee_schedule.deleted': ['schedules', false],
  'approver.added': ['approvers', true],
  'approver.removed': ['approvers', false],
}
const ROW_ACTIONS: readonly string[] = Object.keys(CHANGES)

function expectedRows() {
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

interface ExpectedPolicy {
  fields: Record<string, unknown>
  paused: boolean
  /** Last spend before the last reset. */
  mark: number
  /** Sequence number of the last entry about the policy. */
  sequence: number
}

interface ExpectedSpend {
  /**
   * Possible totals by mint as JSON. There are several when a failed signing may or may not have returned its amounts.
   */
  possible: Set<string>
  sequence: number
}

/** Clocks of several daemons differ, so spends at the edge of the day are left out. */
const EDGE_MS = 600_000

type AuditRow = Row<'audit_entries'>

export function expectedState(now: number) {
  let policies = new Map<string, ExpectedPolicy>()
  const spends = new Map<string, ExpectedSpend>()
  const rows = expectedRows()
  const since = now - DAY_MS

  function apply(entry: AuditRow): void {
    const details: AuditDetails = JSON.parse(entry.details_json)
    rows.apply(entry.action, details, entry.sequence)
    if (entry.signer === null) return
    const policy = policies.get(entry.signer) ?? firstPolicy()
    if (applyPolicyChange(policy, entry.action, details)) {
      policies.set(entry.signer, Object.assign(policy, { sequence: entry.sequence }))
    }
    if (entry.at > since + EDGE_MS) applySpend(spends, entry, details)
  }

  /** Begins with the state that a cut has stored in its anchor. */
  function restore({ policies_json }: AuditAnchor): void {
    const stored = JSON.parse(policies_json) as Record<string, unknown>
    policies = new Map(Object.entries(stored.policies as Record<string, ExpectedPolicy>))
    rows.restore(stored)
  }

  const stateJson = (): string => JSON.stringify({ policies: Object.fromEntries(policies), ...rows.toJson() })

  /** Returns the first row that differs from the state that the entries imply. */
  const difference = async (reader: Reader): Promise<Difference | null> =>
    (await standingDifference(reader)) ??
    (await spendDifference(reader, spends, since)) ??
    (await useDifference(reader))

  /** The same without the spends of the day, which only all entries show, and without the use of sponsorships. */
  async function standingDifference(reader: Reader): Promise<Difference | null> {
    const left = new Map(policies)
    for (const row of await listSignerPolicies(reader)) {
      const expected = left.get(row.signer) ?? firstPolicy()
      left.delete(row.signer)
      const why = policyFault(row, expected)
      if (why !== null) return { sequence: expected.sequence, why: `the policy of ${row.signer} ${why}` }
    }
    for (const [signer, { sequence }] of left) return { sequence, why: `the policy of ${signer} is gone` }
    return rows.difference(reader)
  }
  return { apply, restore, stateJson, difference, standingDifference }
}

export const STANDING_ACTIONS = [...ROW_ACTIONS, 'policy.changed', 'signer.paused', 'signer.resumed', 'spend.reset']

const firstPolicy = (): ExpectedPolicy => ({
  fields: JSON.parse(policyJson(DEFAULT_POLICY)),
  paused: false,
  mark: 0,
  sequence: 0,
})

/** Returns false when the entry does not concern the policy. */
function applyPolicyChange(policy: ExpectedPolicy, action: string, { after, mark }: AuditDetails): boolean {
  if (action === 'policy.changed') Object.assign(policy.fields, after)
  else if (action === 'signer.paused') policy.paused = true
  else if (action === 'signer.resumed') policy.paused = false
  else if (action === 'spend.reset') policy.mark = mark as number
  else return false
  return true
}

function policyFault(row: Row<'signer_policies'>, { fields, paused, mark }: ExpectedPolicy): string | null {
  const stored = objectIn(row.policy_json)
  if (stored === null) return 'is not a JSON object'
  const field = Object.keys({ ...fields, ...stored }).find((name) => sorted(fields[name]) !== sorted(stored[name]))
  if (field !== undefined) return `has another ${field} than in this entry`
  if ((row.paused === 1) !== paused) return `is ${paused ? 'not paused' : 'paused'}, unlike in this entry`
  if (row.spend_mark !== mark) return 'counts its day from another spend than this entry'
  return null
}

/** Returns null for content that svc did not write, so that a changed row cannot abort the check. */
function objectIn(text: string): AuditDetails | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as AuditDetails) : null
  } catch {
    return null
  }
}

/** Returns JSON with sorted keys in every object, so that equal values have equal text. */
const sorted = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

function applySpend(spends: Map<string, ExpectedSpend>, { action, sequence }: AuditRow, details: AuditDetails): void {
  const { signing, signed } = details
  if (typeof signing !== 'string') return
  const existing = spends.get(signing)
  if (action === 'signing.failed' && signed === 'no') existing?.possible.add(NO_SPENDS)
  if (action !== 'signing.intended') return
  const amounts = amountsOf(details)
  const before = existing?.possible ?? new Set([NO_SPENDS])
  const possible = new Set([...before].map((totals) => total([...amountsIn(totals), ...amounts])))
  spends.set(signing, { possible, sequence })
}

type Amount = readonly [mint: string, amount: bigint]

/** A co-signature spends nothing, so its entry has no amounts. */
function amountsOf({ lamports = '0', tokens = [] }: AuditDetails): Amount[] {
  const listed = tokens as { mint: string; amount: string }[]
  return [['', BigInt(lamports as string)], ...listed.map(({ mint, amount }) => [mint, BigInt(amount)] as const)]
}

const amountsIn = (totals: string): Amount[] =>
  (JSON.parse(totals) as [string, string][]).map(([mint, amount]) => [mint, BigInt(amount)])

function total(amounts: readonly Amount[]): string {
  const sums = new Map<string, bigint>()
  for (const [mint, amount] of amounts) if (amount > 0n) sums.set(mint, (sums.get(mint) ?? 0n) + amount)
  return JSON.stringify([...sums].map(([mint, sum]) => [mint, String(sum)]).sort())
}

const NO_SPENDS = total([])

/** Compares the spends of the day's signings, without those at its edge. */
async function spendDifference(
  reader: Reader,
  spends: ReadonlyMap<string, ExpectedSpend>,
  since: number,
): Promise<Difference | null> {
  const rows = await listSpendsSince(reader, since)
  const stored = new Map<string, typeof rows>()
  for (const row of rows) stored.set(row.signing_id, [...(stored.get(row.signing_id) ?? []), row])
  for (const [signing, { possible, sequence }] of spends) {
    const storedRows = stored.get(signing) ?? []
    const isNumeric = storedRows.every(({ amount }) => /^\d+$/.test(amount))
    if (!isNumeric || !possible.has(total(storedRows.map(({ mint, amount }) => [mint, BigInt(amount)]))))
      return { sequence, why: `the spend of the signing ${signing} differs from this entry` }
    stored.delete(signing)
  }
  for (const [signing, rows] of stored) {
    if (rows.some(({ at }) => at > since + 2 * EDGE_MS))
      return { sequence: 0, why: `the spend of ${signing} has no entry` }
  }
  return null
}

/** Compares the use of each sponsorship with its claims. A failed claim costs its fee, an expired one nothing. */
async function useDifference(reader: Reader): Promise<Difference | null> {
  const left = new Map<string, bigint | null>()
  for (const { airdrop_id, used, status, lamports, fee, claims } of await sponsorshipUses(reader)) {
    const cost = status === null || status === 'expired' ? '0' : status === 'failed' ? fee : lamports
    const rest = left.has(airdrop_id) ? left.get(airdrop_id) : digits(used)
    const each = digits(cost)
    left.set(airdrop_id, rest == null || each === null ? null : rest - each * BigInt(claims))
  }
  const wrong = [...left].find(([, rest]) => rest !== 0n)?.[0]
  return wrong === undefined
    ? null
    : { sequence: 0, why: `the use of the sponsorship ${wrong} differs from the cost of its claims` }
}

/** Returns null for content that svc did not write. */
const digits = (text: string | null): bigint | null => (text !== null && /^\d+$/.test(text) ? BigInt(text) : null)
