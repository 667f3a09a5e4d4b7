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

interface FoundSource<R extends Found> {
  query: FoundQuery<R>
  /** The kind of its rows; null if they have a column with theirs. */
  kind: string | null
}

/** Returns what a query finds, oldest first. */
export async function foundBy<R extends Found>(
  reader: Reader,
  source: FoundSource<R>,
  { limit, after, ...wanted }: Wanted,
): Promise<(R & Snoozed)[]> {
  let rows = selectFound(reader, source, wanted)
    .selectAll('found')
    .select(['snooze.until as snoozed_until', 'snooze.reason as snooze_reason'])
    .orderBy('found.since')
    .limit(limit)
  if (source.kind === null) rows = rows.orderBy('found.kind')
  rows = rows.orderBy('found.subject')
  if (after !== undefined)
    rows = rows.where('found.since', '>=', after.since).where(({ eb, or, and }) => {
      const later = eb('found.since', '>', after.since)
      const sameKind = eb('found.subject', '>', after.subject)
      if (source.kind !== null) return or([later, sameKind])
      return or([later, eb('found.kind', '>', after.kind), and([eb('found.kind', '=', after.kind), sameKind])])
    })
  return (await rows.execute()) as unknown as (R & Snoozed)[]
}

/** Counts what a query finds, up to a limit. */
export async function countFound<R extends Found>(
  reader: Reader,
  source: FoundSource<R>,
  { limit, ...wanted }: Wanted,
): Promise<number> {
  const some = selectFound(reader, source, wanted).select(sql.lit(1).as('one')).limit(limit)
  const { count } = await reader
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function selectFound<R extends Found>(
  reader: Reader,
  { query, kind }: FoundSource<R>,
  { now, snoozed, subject }: Omit<Wanted, 'limit' | 'after'>,
) {
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
  if (snoozed !== undefined) rows = rows.where('snooze.subject', snoozed ? 'is not' : 'is', null)
  return subject === undefined ? rows : rows.where('found.subject', '=', subject)
}

/** The same for the few rows of a kind that are computed. */
export async function foundAmong<R extends Found>(
  reader: Reader,
  { rows, kind }: { rows: readonly R[]; kind: string },
  { now, limit, snoozed, after, subject }: Wanted,
): Promise<(R & Snoozed)[]> {
  if (rows.length === 0) return []
  const snoozes = await reader
    .selectFrom('attention_snoozes')
    .selectAll()
    .where('kind', '=', kind)
    .where('until', '>', now)
    .execute()
  return rows
    .map((row) => {
      const snooze = snoozes.find((each) => each.subject === row.subject && each.snoozed_at >= row.since)
      return { ...row, snoozed_until: snooze?.until ?? null, snooze_reason: snooze?.reason ?? null }
    })
    .filter((row) => snoozed === undefined || (row.snoozed_until !== null) === snoozed)
    .filter((row) => subject === undefined || row.subject === subject)
    .filter((row) => after === undefined || isAfter(row, after))
    .toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
    .slice(0, limit)
}

const isAfter = (row: Found, place: Found) =>
  row.since > place.since || (row.since === place.since && row.subject > place.subject)
