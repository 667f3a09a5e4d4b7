/** What workers have observed and still hold, for kinds that no other table shows. */
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import type { FoundQuery } from './found.ts'

export interface Observed {
  kind: string
  subject: string
  since: number
  facts_json: string
}

/** What is observed of these kinds. */
export const observedOf =
  (kinds: readonly string[]) =>
  (reader: Reader): FoundQuery<Observed> =>
    reader
      .selectFrom('attention_observations')
      .select(['kind', 'subject', 'since', 'facts_json'])
      .where('kind', 'in', kinds)

/** Writes that something holds at `now`. It began at its first look, unless `since` says when. */
export async function observe(
  tx: Tx,
  { kind, subject, since, facts, now }: { kind: string; subject: string; since?: number; facts: object; now: number },
): Promise<void> {
  const began = since === undefined ? {} : { since }
  const changes = { ...began, facts_json: JSON.stringify(facts), observed_at: now }
  await tx
    .insertInto('attention_observations')
    .values({ kind, subject, since: now, ...changes })
    .onConflict((conflict) => conflict.columns(['kind', 'subject']).doUpdateSet(changes))
    .execute()
}

export async function findObservation(
  reader: Reader,
  kind: string,
  subject: string,
): Promise<Row<'attention_observations'> | null> {
  const rows = reader.selectFrom('attention_observations').selectAll()
  return (await rows.where('kind', '=', kind).where('subject', '=', subject).executeTakeFirst()) ?? null
}

/** Removes an observation that no longer holds; false if there is none. */
export async function endObservation(tx: Tx, kind: string, subject: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('attention_observations')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
