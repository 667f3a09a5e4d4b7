/** Reads one account from the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readAccount } from '../../chain/reads/accounts.ts'
import type { Context } from '../../context.ts'
import { requireRecord } from '../require-record.ts'

type GetAccountRoute = Api['accounts']['get']

export async function getAccount(
  { chain }: Context,
  { address }: Input<GetAccountRoute>,
): Promise<Result<GetAccountRoute>> {
  return requireRecord(await readAccount(chain, address), 'account', address)
}
