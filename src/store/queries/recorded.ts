/** Columns that the tables of all listed records share. */
import type { Generated } from 'kysely'

/** Its number in the order of creation, and the fields of the originating request. */
export interface Recorded {
  seq: Generated<number>
  external_uid: string | null
  metadata_json: string | null
  created_at: number
}
