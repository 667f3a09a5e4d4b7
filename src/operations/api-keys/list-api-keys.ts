/** Lists API keys, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageApiKeys } from '../../store/requests/api-keys.ts'
import { apiKeyRecord, recordPage } from '../api-records.ts'

type ListApiKeysRoute = Api['apiKeys']['list']

export async function listApiKeys(
  { store }: Pick<Context, 'store'>,
  input: Input<ListApiKeysRoute>,
): Promise<Result<ListApiKeysRoute>> {
  return recordPage(await pageApiKeys(store.db, input), apiKeyRecord)
}
