/** The one collector of event drafts: records and the events that report them are written in the same database transaction. */
import type { Services } from '../context.ts'
import { type EventDraft, writeEvents } from '../store/event-drafts.ts'
import type { Tx } from '../store/store.ts'
import { type RowFault, writeEach } from '../store/write-each.ts'

/**
 * Writes rows in few transactions, each with the events that `write` answers for them; answers the rows that could not be
 * written. Throws where the database is away or takes no write, and between two writes once `signal` is aborted.
 */
export const writeWithEvents = <R>(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<readonly EventDraft[]>,
  signal?: AbortSignal,
): Promise<RowFault<R>[]> =>
  writeEach(store, rows, async (tx, part) => writeEvents(tx, clock, await write(tx, part)), signal)
