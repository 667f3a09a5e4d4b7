/** What counts the requests of keys: a daemon's own memory, or the database that several daemons share. */
import type { Admission } from '../../src/store/requests/rate-hits.ts'
import type { Row } from '../../src/store/schema.ts'

/** The part of a key that its requests are counted by. */
export type LimitedKey = Pick<Row<'api_keys'>, 'id' | 'per_minute' | 'per_day'>

export interface Counter {
  /**
   * Decides one request at `now`; an admitted one is recorded durably before this resolves, or was recorded in advance.
   */
  admit(key: LimitedKey, now: number): Promise<Admission>
  /** Writes what is still in memory. */
  close(): Promise<void>
}
