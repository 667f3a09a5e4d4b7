/** Reads items of what needs a person: a merge of all kinds, oldest first. */
import type { AttentionItem } from '../../api/attention.ts'
import { ATTENTION_KINDS, type AttentionKind } from '../../api/attention-kinds.ts'
import { printableLine } from '../../platform/printable.ts'
import { isoTime } from '../../platform/timing.ts'
import {
  countFound,
  type Found,
  type FoundPlace,
  foundAmong,
  foundBy,
  type Snoozed,
  type Wanted,
} from '../../store/attention/found.ts'
import { type Observed, observedOf } from '../../store/attention/observations.ts'
import type { Reader } from '../../store/store.ts'
import { fromJson, isoTimeOrNull } from '../api-records.ts'
import { type AnyObservedKind, type AnyStoredKind, type Said, STORED_KINDS } from './kinds.ts'
import { OBSERVED_KINDS } from './observed-kinds.ts'

const LONGEST_SUMMARY = 1_000

interface FoundItem {
  /** Its number in the order of the list among those that began at the same time. */
  source: number
  place: FoundPlace
  item: AttentionItem
}

type StoredName = keyof typeof STORED_KINDS
const storedKind = (kind: string) => (STORED_KINDS as Partial<Record<string, AnyStoredKind>>)[kind]
const observedKind = (kind: string) => (OBSERVED_KINDS as Partial<Record<string, AnyObservedKind>>)[kind]

/** Items that began at the same time are sorted by kind; those that workers observe are one source, after the others. */
const sourceOf = (kind: string) =>
  storedKind(kind) === undefined ? ATTENTION_KINDS.length : ATTENTION_KINDS.indexOf(kind as AttentionKind)

export const readId = (id: string): { kind: string; subject: string } => {
  const [kind = '', ...rest] = id.split('.')
  return { kind, subject: rest.join('.') }
}

interface WantedKinds {
  kind?: AttentionKind | undefined
  without?: readonly AttentionKind[]
}

/** Returns the first items of one kind, or of all but some. */
export async function findItems(
  reader: Reader,
  { kind, without = [], ...wanted }: Wanted & WantedKinds,
): Promise<FoundItem[]> {
  const kinds = kind === undefined ? ATTENTION_KINDS.filter((each) => !without.includes(each)) : [kind]
  const sources = [
    ...kinds.filter((each) => storedKind(each) !== undefined).map((each) => foundOf(reader, each, wanted)),
    observedItems(
      reader,
      kinds.filter((each) => observedKind(each) !== undefined),
      wanted,
    ),
  ]
  const found = (await Promise.all(sources)).flat()
  // Each source is sorted by its database, so that only times and sources are compared.
  const inOrder = found.toSorted((one, other) => one.place.since - other.place.since || one.source - other.source)
  return inOrder.slice(0, wanted.limit)
}

/** Most items of a kind that are counted. */
const MOST_COUNTED = 1_000

/** Counts what is not snoozed, by kind. */
export async function countItems(reader: Reader, now: number): Promise<[AttentionKind, number][]> {
  const counts: [AttentionKind, number][] = []
  for (const kind of ATTENTION_KINDS) {
    const definition = storedKind(kind)
    const wanted = { now, limit: MOST_COUNTED, snoozed: false }
    const query = definition === undefined ? observedOf([kind]) : 'query' in definition ? definition.query : null
    const count =
      query === null
        ? (await rowsOf(reader, kind as StoredName, wanted)).length
        : await countFound(reader, { query, kinds: [kind] }, wanted)
    counts.push([kind, count])
  }
  return counts
}

/** Returns the rows of a kind. */
export async function rowsOf<K extends StoredName>(reader: Reader, kind: K, wanted: Wanted): Promise<RowOf<K>[]> {
  const definition: AnyStoredKind = STORED_KINDS[kind]
  const after = wanted.after === undefined ? undefined : placeFor(kind, wanted.after)
  const own = { ...wanted, after }
  if ('query' in definition)
    return foundBy(reader, { query: definition.query, kinds: [kind] }, own) as Promise<RowOf<K>[]>
  return foundAmong(reader, { rows: await definition.rows(reader, wanted.now), kind }, own) as Promise<RowOf<K>[]>
}
type RowOf<K extends StoredName> = Parameters<(typeof STORED_KINDS)[K]['says']>[0] & Found & Snoozed

async function foundOf(reader: Reader, kind: AttentionKind, wanted: Wanted): Promise<FoundItem[]> {
  const definition: AnyStoredKind = STORED_KINDS[kind as StoredName]
  const rows = await rowsOf(reader, kind as StoredName, wanted)
  return rows.map((row) => itemOf(kind, row, definition, definition.says(row)))
}

async function observedItems(reader: Reader, kinds: readonly string[], wanted: Wanted): Promise<FoundItem[]> {
  if (kinds.length === 0) return []
  const { after } = wanted
  const place = after === undefined || sourceOf(after.kind) === ATTENTION_KINDS.length ? after : startOf(after)
  const rows = await foundBy<Observed>(reader, { query: observedOf(kinds), kinds }, { ...wanted, after: place })
  return rows.map((row) => {
    const definition = observedKind(row.kind) as AnyObservedKind
    const said = definition.says({ ...row, facts: fromJson(row.facts_json) })
    return itemOf(row.kind as AttentionKind, row, definition, said)
  })
}

/** The place from which a kind goes on after an item of any kind. */
function placeFor(kind: string, after: FoundPlace): FoundPlace {
  if (kind === after.kind) return after
  return sourceOf(kind) > sourceOf(after.kind) ? startOf(after) : startOf({ ...after, since: after.since + 1 })
}
/** Before everything that began at the same time. */
const startOf = ({ since }: FoundPlace): FoundPlace => ({ since, kind: '', subject: '' })

function itemOf(
  kind: AttentionKind,
  { subject, since, snoozed_until, snooze_reason }: Found & Snoozed,
  definition: Pick<AnyStoredKind, 'subject' | 'page'>,
  { summary, command, ends_at = null, about = definition }: Said,
): FoundItem {
  return {
    source: sourceOf(kind),
    place: { since, kind, subject },
    item: {
      id: `${kind}.${subject}`,
      kind,
      since: isoTime(since),
      ends_at: isoTimeOrNull(ends_at),
      subject: { type: about.subject, id: subject },
      // It may have a part that a node or a database wrote.
      summary: printableLine(summary, LONGEST_SUMMARY),
      command,
      page: about.page(subject),
      snoozed_until: isoTimeOrNull(snoozed_until),
      snooze_reason,
    },
  }
}
