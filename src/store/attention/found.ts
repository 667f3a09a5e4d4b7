/** How what needs a person is read: by a query for each source, with snoozes, oldest first, from a place on. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from '../schema.ts'
import type { Reader } from '../store.ts'

/** One row for each subject that needs a person. Other columns are what its sentence and its command need. */
export interface Found {
  subject: string
  /** When it began, in Unix milliseconds. */
  since: number
}

// biome-ignore lint/suspicious/noExplicitAny: a source may read any tables
export type FoundQuery<R extends Found> = SelectQueryBuilder<any, any, R>

export interface Snoozed {
  snoozed_until: number | null
  snooze_reason: string | null
}

/** A place in the order of a source. */
export interface FoundPlace {
  since: number
  kind: string
  subject: string
}

export interface Wanted {
  /** Current time in Unix milliseconds. */
  now: number
  limit: number
  /** Only snoozed ones, or only those that are not. */
  snoozed?: boolean | undefined
  /** Only what comes after this place. */
  after?: FoundPlace | undefined
  /** Only this one. */
  subject?: string | undefined
}

/** A query of any source; Kysely cannot type the columns of a type parameter. */
interface LooseTables {
  found: FoundPlace
  attention_snoozes: Tables['attention_snoozes']
}

/** Returns what a query finds; its rows are of one kind, or have a column with theirs. */
export function foundBy<R extends Found>(
  reader: Reader,
  { query, kind }: { query: FoundQuery<R>; kind: string | null },
  { now, limit, snoozed, after, subject }: Wanted,
): Promise<(R & Snoozed)[]> {
  const ownKind = kind === null ? sql.ref<string>('found.kind') : sql<string>`${kind}`
  let rows = (reader as unknown as Kysely<LooseTables>)
    .selectFrom((query as unknown as FoundQuery<FoundPlace>).as('found'))
    .leftJoin('attention_snoozes as snooze', (join) =>
      join
        .on('snooze.kind', '=', ownKind)
        .onRef('snooze.subject', '=', 'found.subject')
        .on('snooze.until', '>', now)
        .onRef('snooze.snoozed_at', '>=', 'found.since'),
    )
    .selectAll('found')
    .select(['snooze.until as snoozed_until', 'snooze.reason as snooze_reason'])
    .orderBy('found.since')
    .limit(limit)
  if (kind === null) rows = rows.orderBy('found.kind')
  rows = rows.orderBy('found.subject')
  if (snoozed !== undefined) rows = rows.where('snooze.subject', snoozed ? 'is not' : 'is', null)
  if (subject !== undefined) rows = rows.where('found.subject', '=', subject)
  if (after === undefined) return rows.execute() as Promise<(R & Snoozed)[]>
  const { since } = after
  const page = rows.where('found.since', '>=', since).where(({ eb, or, and }) => {
    const later = eb('found.since', '>', since)
    const sameKind = eb('found.subject', '>', after.subject)
    if (kind !== null) return or([later, sameKind])
    return or([later, eb('found.kind', '>', after.kind), and([eb('found.kind', '=', after.kind), sameKind])])
  })
  return page.execute() as Promise<(R & Snoozed)[]>
}
