/** Stores an API key together with its entry in the audit log. A key without an entry counts as forged. */
import type { Context } from '../../context.ts'
import { addApiKey } from '../../store/requests/api-keys.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { audit } from '../signing/audit.ts'

type Auditing = Pick<Context, 'actor' | 'requestId' | 'clock' | 'vault'>

/** The fields of a key in the log. The hash is of 190 random bits, so it reveals nothing. */
export const apiKeyTerms = (row: Pick<Row<'api_keys'>, 'id' | 'name' | 'hash' | 'scopes_json'> & KeyLimits) => ({
  key: row.id,
  name: row.name,
  scopes: JSON.parse(row.scopes_json) as string[],
  rate_limit_per_minute: row.per_minute,
  rate_limit_per_day: row.per_day,
  sha256: row.hash,
})

type KeyLimits = Pick<Row<'api_keys'>, 'per_minute' | 'per_day'>

export async function addAuditedKey(context: Auditing, tx: Tx, row: Omit<Row<'api_keys'>, 'seq'>): Promise<void> {
  await addApiKey(tx, row)
  await audit(context, tx, 'api_key.created', null, apiKeyTerms(row))
}
