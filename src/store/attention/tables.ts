/** Tables of what needs a person: snoozes, and what workers have observed. */

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

export interface AttentionTables {
  attention_snoozes: AttentionSnoozesTable
  attention_observations: AttentionObservationsTable
}
