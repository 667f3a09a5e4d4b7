/** Mounts the routes of accounts, one line per verb. */
import { api } from '../../src/api/index.ts'
import { fetchAccounts } from '../../src/operations/accounts/fetch-accounts.ts'
import { getAccount } from '../../src/operations/accounts/get-account.ts'
import type { Mount } from '../mount.ts'

export function accountsRoutes(mount: Mount): void {
  mount(api.accounts.get, getAccount)
  mount(api.accounts.batchFetch, fetchAccounts)
}
