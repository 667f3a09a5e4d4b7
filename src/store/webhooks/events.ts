/** Events as deliveries read them: many at once if they have an ordinary size. */
import type { RawBuilder } from 'kysely'
import { weightOf } from '../queries/paging.ts'
import { preparedForList } from '../queries/prepared-lists.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'

/** Bytes of unbounded columns; up to this size, hundreds of events together take little memory. */
const ORDINARY_BYTES = 16 * 1024

const findOrdinary = preparedForList((db, sequences: readonly RawBuilder<number>[]) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('sequence', 'in', sequences)
    .where(weightOf({ object_json: 1, metadata_json: 1 }), '<=', ORDINARY_BYTES),
)

/** Returns the events that exist and have an ordinary size, in no particular order. */
export const findOrdinaryEvents = (reader: Reader, sequences: readonly number[]): Promise<Row<'events'>[]> =>
  findOrdinary(reader, sequences, {})
