/** How what needs a person is read: by a query for each source, with snoozes, oldest first, from a place on. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { type Placeholders, type Prepared, prepared } from '../queries/prepared.ts'
import type { Tables } from '../schema.ts'
import type { Reader } from '../store.ts'
import { type Times, timesAt } from './kinds.ts'

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
  query(reader: Reader, times: Times): FoundQuery<R>
  /** The kind of its rows; those of several have a column with theirs. */
  kinds: readonly string[]
}

/** The parts of a list that change the text of its statement. */
interface Form {
  /** Null for a source whose rows have a column with their kind. */
  kind: string | null
  snoozed: boolean | undefined
  isOfSubject: boolean
  isAfter: boolean
}

const valuesOf = ({ now, limit, subject = '', after }: Wanted) => ({
  ...timesAt(now),
  limit,
  subject,
  afterSince: after?.since ?? 0,
  afterKind: after?.kind ?? '',
  afterSubject: after?.subject ?? '',
})
type Values = ReturnType<typeof valuesOf>

/** Statements by source and form, because the list is made of some twenty. */
const statements = new Map<string, Prepared<Values, unknown>>()

function statementOf<R extends Found>(
  purpose: 'rows' | 'count',
  { query, kinds }: FoundSource<R>,
  { snoozed, subject, after }: Wanted,
): Prepared<Values, unknown> {
  const [kind = null, ...others] = kinds
  const form: Form = {
    kind: others.length === 0 ? kind : null,
    snoozed,
    isOfSubject: subject !== undefined,
    isAfter: after !== undefined,
  }
  const name = [purpose, ...kinds, ...Object.values(form)].join(' ')
  const made =
    statements.get(name) ??
    prepared((db, values: Placeholders<Values>) => {
      const found = query(db, values) as unknown as FoundQuery<FoundPlace>
      return purpose === 'rows' ? rowsIn(db, found, form, values) : countIn(db, found, form, values)
    })
  statements.set(name, made)
  return made
}

/** Returns what a source finds, oldest first. */
export async function foundBy<R extends Found>(
  reader: Reader,
  source: FoundSource<R>,
  wanted: Wanted,
): Promise<(R & Snoozed)[]> {
  return (await statementOf('rows', source, wanted).all(reader, valuesOf(wanted))) as (R & Snoozed)[]
}

/** Counts what a source finds, up to the limit. */
export async function countFound<R extends Found>(
  reader: Reader,
  source: FoundSource<R>,
  wanted: Wanted,
): Promise<number> {
  const row = await statementOf('count', source, wanted).first(reader, valuesOf(wanted))
  return Number((row as { count: number | string }).count)
}

function rowsIn(db: Reader, found: FoundQuery<FoundPlace>, form: Form, values: Placeholders<Values>) {
  let rows = selectFound(db, found, form, values)
    .selectAll('found')
    .select(['snooze.until as snoozed_until', 'snooze.reason as snooze_reason'])
    .orderBy('found.since')
    .limit(values.limit)
  if (form.kind === null) rows = rows.orderBy('found.kind')
  rows = rows.orderBy('found.subject')
  if (!form.isAfter) return rows
  return rows.where('found.since', '>=', values.afterSince).where(({ eb, or, and }) => {
    const later = eb('found.since', '>', values.afterSince)
    const sameKind = eb('found.subject', '>', values.afterSubject)
    if (form.kind !== null) return or([later, sameKind])
    const ofKind = and([eb('found.kind', '=', values.afterKind), sameKind])
    return or([later, eb('found.kind', '>', values.afterKind), ofKind])
  })
}

const countIn = (db: Reader, found: FoundQuery<FoundPlace>, form: Form, values: Placeholders<Values>) =>
  db
    .selectFrom(selectFound(db, found, form, values).select(sql.lit(1).as('one')).limit(values.limit).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count'))

function selectFound(
  db: Reader,
  found: FoundQuery<FoundPlace>,
  { kind, snoozed, isOfSubject }: Form,
  { now, subject }: Placeholders<Values>,
) {
  const ownKind = kind === null ? sql.ref<string>('found.kind') : sql<string>`${kind}`
  let rows = (db as unknown as Kysely<LooseTables>)
    .selectFrom(found.as('found'))
    .leftJoin('attention_snoozes as snooze', (join) =>
      join
        .on('snooze.kind', '=', ownKind)
        .onRef('snooze.subject', '=', 'found.subject')
        .on('snooze.until', '>', now)
        .onRef('snooze.snoozed_at', '>=', 'found.since'),
    )
  if (snoozed !== undefined) rows = rows.where('snooze.subject', snoozed ? 'is not' : 'is', null)
  return isOfSubject ? rows.where('found.subject', '=', subject) : rows
}

/** Returns the same as `foundBy`, of the few rows of a kind that are computed. */
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
