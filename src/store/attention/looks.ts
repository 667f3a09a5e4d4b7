/** Stores what a look at the service has seen: what holds now of some kinds. */
import type { AttentionKind } from '../../api/attention-kinds.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { endObservation, observe } from './observations.ts'

type ObservationRow = Row<'attention_observations'>

/** Something that holds now. */
export interface Observation {
  kind: AttentionKind
  /** What it concerns, in characters that a URL carries as they are. */
  subject: string
  /** When it began, in Unix milliseconds; if absent, when it was first seen. */
  since?: number
  /** What its sentence and its command need. */
  facts: Readonly<Record<string, unknown>>
}

/** One look at some kinds. */
export interface Look {
  kinds: readonly AttentionKind[]
  now: number
  /** The process that looked, for what processes may see differently; null for what is the same for all. */
  observer: string | null
  held: readonly Observation[]
}

/** A process that has not looked for this long has ended, so what it saw counts no longer. */
const GONE_AFTER_MS = 5 * 60_000
/** Rows that are read; there are a few dozen. */
const MOST_ROWS = 1_000

/**
 * Stores what holds and removes what does not; `since` stays while something holds. What another process has seen last
 * is left to it, until it has been silent for five minutes.
 */
export async function storeLook(tx: Tx, { kinds, now, observer, held }: Look): Promise<void> {
  const isOwn = ({ facts_json, observed_at }: ObservationRow) =>
    observer === null || observerIn(facts_json) === observer || Math.abs(now - observed_at) > GONE_AFTER_MS
  for (const row of await observationsOf(tx, kinds)) {
    const isHeld = held.some(({ kind, subject }) => kind === row.kind && subject === row.subject)
    if (!isHeld && isOwn(row)) await endObservation(tx, row.kind, row.subject)
  }
  for (const each of held) await observe(tx, { ...each, facts: factsOf(each, observer), now })
}

/** Whether a look has seen what is stored already. */
export async function isStored(reader: Reader, { kinds, observer, held }: Look): Promise<boolean> {
  const rows = await observationsOf(reader, kinds)
  const own = rows.filter(({ facts_json }) => observer === null || observerIn(facts_json) === observer)
  return (
    own.length === held.length &&
    held.every((each) =>
      own.some(
        ({ kind, subject, facts_json }) =>
          kind === each.kind && subject === each.subject && facts_json === JSON.stringify(factsOf(each, observer)),
      ),
    )
  )
}

const factsOf = ({ facts }: Observation, observer: string | null) =>
  observer === null ? facts : { ...facts, observer }
const observerIn = (facts: string): unknown => (JSON.parse(facts) as { observer?: unknown }).observer

function observationsOf(reader: Reader, kinds: readonly AttentionKind[]): Promise<ObservationRow[]> {
  const rows = reader.selectFrom('attention_observations').selectAll().where('kind', 'in', kinds)
  return rows.orderBy('kind').orderBy('subject').limit(MOST_ROWS).execute()
}
