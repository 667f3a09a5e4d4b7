/** Tables of what needs a person: snoozes, what workers have observed, and what its receivers were told. */

/** An item that is left out of the list until a time. */
interface AttentionSnoozesTable {
  kind: string
  subject: string
  until: number
  reason: string
  /** A cause that began later is not snoozed. */
  snoozed_at: number
  /** Id of the API key that snoozed it. */
  snoozed_by: string
}

/** What a worker has observed and still holds, for kinds that no other table shows. */
interface AttentionObservationsTable {
  kind: string
  subject: string
  /** Time at which it began. */
  since: number
  /** What its sentence and its command need, as JSON. */
  facts_json: string
  /** Time of the last look at which it held. */
  observed_at: number
}

/** An item that a receiver of notices is told of; the row is removed once it was told that the item is over. */
interface AttentionNoticesTable {
  /** Which receiver; made of its URL, which is not stored. */
  receiver: string
  kind: string
  subject: string
  /** The item as its notices show it, as JSON. */
  item_json: string
  /** When it was noticed. */
  noticed_at: number
  /** When the receiver took the notice that it has begun; null until then. */
  told_at: number | null
  /** When it was seen to be over; null until then. */
  ended_at: number | null
}

/** How much a receiver of notices was sent in the current minute, and when it is tried again. */
interface AttentionReceiversTable {
  receiver: string
  minute_at: number
  sent: number
  failures: number
  next_attempt_at: number
}

export interface AttentionTables {
  attention_notices: AttentionNoticesTable
  attention_receivers: AttentionReceiversTable
  attention_snoozes: AttentionSnoozesTable
  attention_observations: AttentionObservationsTable
}
