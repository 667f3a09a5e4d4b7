/** Mounts the routes of accounts, one line per verb. */
import { accounts } from '../../src/api/accounts.ts'
import { fetchAccounts, getAccount, getWalletBalances } from '../../src/operations/accounts.ts'
import type { Mount } from '../mount.ts'

export function accountsRoutes(mount: Mount): void {
  mount(accounts.get, getAccount)
  mount(accounts.batchFetch, fetchAccounts)
  mount(accounts.balances, getWalletBalances)
}
