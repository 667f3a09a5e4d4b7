/** Tables of events. */

interface EventsTable {
  /** Number of the event, increasing and without gaps per database. */
  sequence: number
  id: string
  type: string
  resource_type: string
  resource_id: string
  object_json: string
  external_uid: string | null
  metadata_json: string | null
  /** Key made of type, resource and signature. An event that is reported twice is stored once. */
  dedupe_key: string
  created_at: number
  /** Latest `created_at` of all events up to this one; it never decreases along the sequence, even if a clock jumps. */
  latest_at: number
}

/** Dedupe keys of removed events, so that they are not reported again. */
interface RemovedEventKeysTable {
  /** SHA-256 of the dedupe key. */
  key_hash: Buffer
}

export interface EventTables {
  events: EventsTable
  removed_event_keys: RemovedEventKeysTable
}
