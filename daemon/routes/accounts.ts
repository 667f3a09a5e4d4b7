/** Mounts the routes of accounts, one line per verb. */
import { accounts } from '../../src/api/accounts.ts'
import { fetchAccounts } from '../../src/operations/accounts/fetch-accounts.ts'
import { getAccount } from '../../src/operations/accounts/get-account.ts'
import { getWalletBalances } from '../../src/operations/accounts/get-wallet-balances.ts'
import type { Mount } from '../mount.ts'

export function accountsRoutes(mount: Mount): void {
  mount(accounts.get, getAccount)
  mount(accounts.batchFetch, fetchAccounts)
  mount(accounts.balances, getWalletBalances)
}
