/** The counter of requests per key: in a daemon's memory, or in the database that several daemons share. */
import type { Admission } from '../../src/store/requests/rate-hits.ts'
import type { Row } from '../../src/store/schema.ts'

/** The parts of a key that are needed to count its requests. */
export type LimitedKey = Pick<Row<'api_keys'>, 'id' | 'per_minute' | 'per_day'>

export interface Counter {
  /**
   * Decides about a request at `now`. An admitted request is recorded durably before this resolves, or was recorded in
   * advance.
   */
  admit(key: LimitedKey, now: number): Promise<Admission>
  /** Writes the counts that are still in memory. */
  close(): Promise<void>
}
