/** The one loop that follows records: what is due, what is read of it, what follows from that, and one write of record and event. */
import type { Services } from '../context.ts'
import type { EventDraft } from '../store/events/drafts.ts'
import type { Tx } from '../store/store.ts'
import { FAULTY_ROW_WAIT_MS, type RowFault } from '../store/writing/write-each.ts'
import { writeWithEvents } from './write-transitions.ts'

export interface Follower<Row, Reading, Step> {
  /** What the log calls a record: its kind and its name. */
  named(row: Row): Record<string, string>
  /** The records whose look is due, as many as a round covers, the longest overdue first. */
  due(): Promise<readonly Row[]>
  /** Records that are read together. */
  perRead: number
  /** An Error concerns its record alone. Throws internal_error when the node fails. */
  read(rows: readonly Row[]): Promise<readonly (Reading | Error)[]>
  /** What is to be written, with the time of the next look; null leaves the record as it is, due again. */
  decide(row: Row, reading: Reading): Step | null | Promise<Step | null>
  /** Whether each record is written before the next is decided, because deciding takes calls or others wait for its locks. */
  isWrittenAlone?: boolean
  /** Returns the drafts of the events, for the same database transaction. */
  write(tx: Tx, row: Row, step: Step): Promise<readonly EventDraft[]>
  /** Stores the time of the next look at a record that could not be followed. */
  postpone(tx: Tx, row: Row, next: number): Promise<unknown>
  /** Milliseconds until that look; a minute by default. */
  postponedMs?: number
}

type FollowerServices = Pick<Services, 'store' | 'clock' | 'log'>

/**
 * Runs one round over what is due. A record that cannot be followed is logged, waits and does not stop the others; the
 * first such error is thrown at the end. Throws internal_error when the node or the database fails, and between two
 * records once `signal` is aborted: what was not reached is due again.
 */
export async function follow<Row, Reading, Step>(
  services: FollowerServices,
  follower: Follower<Row, Reading, Step>,
  signal?: AbortSignal,
): Promise<void> {
  const { due, perRead, read, isWrittenAlone } = follower
  const rows = await due()
  let first: RowFault<Row> | undefined
  for (let from = 0; from < rows.length; from += perRead) {
    signal?.throwIfAborted()
    const part = rows.slice(from, from + perRead)
    const readings = await read(part)
    const perWrite = isWrittenAlone ? 1 : part.length
    for (let at = 0; at < part.length; at += perWrite) {
      const group = part.slice(at, at + perWrite)
      const { decided, faults } = await decideAll(follower, group, readings.slice(at, at + perWrite), signal)
      signal?.throwIfAborted()
      faults.push(...(await writeGroup(services, follower, decided, signal)))
      await postponeAll(services, follower, faults)
      first ??= faults[0]
    }
  }
  if (first !== undefined) throw first.error
}

async function decideAll<Row, Reading, Step>(
  { decide }: Follower<Row, Reading, Step>,
  rows: readonly Row[],
  readings: readonly (Reading | Error)[],
  signal: AbortSignal | undefined,
) {
  const decided: { row: Row; step: Step }[] = []
  const faults: RowFault<Row>[] = []
  for (const [i, row] of rows.entries()) {
    signal?.throwIfAborted()
    try {
      const reading = readings[i] as Reading | Error
      if (reading instanceof Error) throw reading
      const step = await decide(row, reading)
      if (step !== null) decided.push({ row, step })
    } catch (error) {
      faults.push({ row, error })
    }
  }
  return { decided, faults }
}

async function writeGroup<Row, Reading, Step>(
  services: FollowerServices,
  { write }: Follower<Row, Reading, Step>,
  group: readonly { row: Row; step: Step }[],
  signal: AbortSignal | undefined,
): Promise<RowFault<Row>[]> {
  const writeAll = async (tx: Tx, part: typeof group) => {
    const drafts: EventDraft[] = []
    for (const { row, step } of part) drafts.push(...(await write(tx, row, step)))
    return drafts
  }
  const faults = await writeWithEvents(services, group, writeAll, signal)
  return faults.map(({ row: { row }, error }) => ({ row, error }))
}

async function postponeAll<Row, Reading, Step>(
  { store, clock, log }: FollowerServices,
  { named, postpone, postponedMs = FAULTY_ROW_WAIT_MS }: Follower<Row, Reading, Step>,
  faults: readonly RowFault<Row>[],
): Promise<void> {
  if (faults.length === 0) return
  for (const { row, error } of faults) log.error({ ...named(row), err: error }, 'a record could not be followed')
  const next = clock.now() + postponedMs
  await store.write(async (tx) => {
    for (const { row } of faults) await postpone(tx, row, next)
  })
}
