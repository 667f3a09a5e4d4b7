/** Returns a pay request of the caller; its id is a secret of the key that made it. */
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { findPayRequest, type PayRequestRow } from '../../store/resources/pay-requests.ts'
import type { Reader } from '../../store/store.ts'

/** Throws not_found for an unknown id, and for a request of another key. */
export async function ownPayRequest(
  { actor }: Pick<Context, 'actor'>,
  reader: Reader,
  id: string,
): Promise<PayRequestRow> {
  const row = await findPayRequest(reader, id)
  if (row !== null && (row.api_key_id === actor.apiKeyId || actor.scopes.includes('*'))) return row
  throw notFound(`Your key has no pay request ${id} (GET /v2/pay-requests, \`svc pay list\`)`)
}
