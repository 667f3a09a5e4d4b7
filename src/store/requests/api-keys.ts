/** Storage of API keys, identified by their hash only. */
import { adding, finding, inserting, listing } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const insertApiKey = inserting('api_keys')
export const addApiKey = adding('api_keys')
export const findApiKey = finding('api_keys', 'id')
export const findApiKeyByHash = finding('api_keys', 'hash')
export const pageApiKeys = listing('api_keys', [], { weights: { scopes_json: 1 } })

export const allApiKeys = (reader: Reader): Promise<Row<'api_keys'>[]> =>
  reader.selectFrom('api_keys').selectAll().orderBy('seq').execute()

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
