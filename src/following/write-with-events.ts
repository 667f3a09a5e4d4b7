/** Writes records and the events that report them in the same database transaction. */
import type { Services } from '../context.ts'
import { type EventDraft, writeEvents } from '../store/events/drafts.ts'
import type { Tx } from '../store/store.ts'
import { type RowFault, writeEach } from '../store/writing/write-each.ts'

/**
 * Writes rows in few transactions, each with the events that `write` returns, and returns the rows that could not be
 * written. Throws when the database is unavailable or read-only, and between two writes once `signal` is aborted.
 */
export const writeWithEvents = <R>(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<readonly EventDraft[]>,
  signal?: AbortSignal,
): Promise<RowFault<R>[]> =>
  writeEach(store, rows, async (tx, part) => writeEvents(tx, clock, await write(tx, part)), signal)
