/** Reads many accounts in one call, with null for an address without an account. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readAccounts } from '../../chain/reads/accounts.ts'
import type { Context } from '../../context.ts'

type FetchAccountsRoute = Api['accounts']['batchFetch']

export async function fetchAccounts(
  { chain }: Context,
  { addresses }: Input<FetchAccountsRoute>,
): Promise<Result<FetchAccountsRoute>> {
  return { accounts: await readAccounts(chain, addresses) }
}
