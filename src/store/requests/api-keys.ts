/** Storage of API keys, identified by their hash only, of their earlier texts, and of their last use. */
import { MINUTE_MS } from '../../platform/timing.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import { adding, finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertApiKey = inserting('api_keys')
export const addApiKey = adding('api_keys')
export const findApiKey = finding('api_keys', 'id')
const findByHash = finding('api_keys', 'hash')
export const updateApiKey = updating('api_keys', 'id')
export const pageApiKeys = listing('api_keys', [], { weights: { scopes_json: 1, allow_ips_json: 1 } })

/** A key as it was presented; `text_until` is set if its text was rotated, and is accepted until then. */
export type PresentedKey = Row<'api_keys'> & { text_until?: number }

const findByPreviousHash = prepared((db, { hash }: Placeholders<{ hash: string }>) =>
  db
    .selectFrom('previous_api_keys')
    .innerJoin('api_keys', 'api_keys.id', 'previous_api_keys.api_key_id')
    .selectAll('api_keys')
    .select('previous_api_keys.expires_at as text_until')
    .where('previous_api_keys.hash', '=', hash),
)

/** Finds a key by the hash of its text, or of an earlier text. */
export async function findApiKeyByHash(reader: Reader, hash: string): Promise<PresentedKey | null> {
  return (await findByHash(reader, hash)) ?? (await findByPreviousHash.first(reader, { hash })) ?? null
}

export const allApiKeys = (reader: Reader): Promise<Row<'api_keys'>[]> =>
  reader.selectFrom('api_keys').selectAll().orderBy('seq').execute()

/** Returns the row and locks it until the commit, with an update that changes nothing. */
export const lockApiKey = (tx: Tx, id: string) => updateApiKey(tx, id, { id })

/** Revokes a key; null if it does not exist. A revoked key keeps its first revocation time. */
export async function revokeApiKey(tx: Tx, id: string, at: number): Promise<Row<'api_keys'> | null> {
  await tx
    .updateTable('api_keys')
    .set({ status: 'revoked', revoked_at: at })
    .where('id', '=', id)
    .where('status', '=', 'active')
    .execute()
  return findApiKey(tx, id)
}

export type PreviousKey = Row<'previous_api_keys'>

/** Earlier texts of these keys, or of all; those that end first come first. */
export function previousApiKeys(reader: Reader, ids?: readonly string[]): Promise<PreviousKey[]> {
  const all = reader
    .selectFrom('previous_api_keys')
    .selectAll()
    .orderBy('api_key_id')
    .orderBy('expires_at')
    .orderBy('hash')
  return (ids === undefined ? all : all.where('api_key_id', 'in', ids)).execute()
}

export async function addPreviousApiKey(tx: Tx, row: PreviousKey): Promise<void> {
  await tx.insertInto('previous_api_keys').values(row).execute()
}

export async function forgetPreviousApiKey(tx: Tx, hash: string): Promise<void> {
  await tx.deleteFrom('previous_api_keys').where('hash', '=', hash).execute()
}

/** Ends the earlier texts of a key that are still accepted. */
export async function endPreviousApiKeys(tx: Tx, id: string, at: number): Promise<void> {
  await tx
    .updateTable('previous_api_keys')
    .set({ expires_at: at })
    .where('api_key_id', '=', id)
    .where('expires_at', '>', at)
    .execute()
}

export type KeyUse = Row<'api_key_uses'>

export const apiKeyUses = (reader: Reader, ids: readonly string[]): Promise<KeyUse[]> =>
  reader.selectFrom('api_key_uses').selectAll().where('api_key_id', 'in', ids).execute()

/** Stores uses of different keys. A use within a minute after the stored one, also of another daemon, is left out. */
export async function recordKeyUses(tx: Tx, uses: readonly KeyUse[]): Promise<void> {
  await tx
    .insertInto('api_key_uses')
    .values([...uses])
    .onConflict((conflict) =>
      conflict
        .column('api_key_id')
        .doUpdateSet(({ ref }) => ({ used_at: ref('excluded.used_at'), used_from: ref('excluded.used_from') }))
        // A stored time in the future comes from a clock that was ahead.
        .where(({ eb, ref, or }) =>
          or([
            eb(ref('excluded.used_at'), '>=', eb('api_key_uses.used_at', '+', MINUTE_MS)),
            eb('api_key_uses.used_at', '>', eb(ref('excluded.used_at'), '+', MINUTE_MS)),
          ]),
        ),
    )
    .execute()
}
