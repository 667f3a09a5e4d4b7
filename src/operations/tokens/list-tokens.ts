/** Lists tokens, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageTokens } from '../../store/resources/tokens.ts'
import { recordPage, tokenRecord } from '../api-records.ts'

type ListTokensRoute = Api['tokens']['list']

export async function listTokens(
  { store }: Pick<Context, 'store'>,
  input: Input<ListTokensRoute>,
): Promise<Result<ListTokensRoute>> {
  return recordPage(await pageTokens(store.db, input), tokenRecord)
}
