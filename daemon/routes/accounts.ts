/** Accounts: one line per verb. */
import { api } from '../../src/api/index.ts'
import { type Mount, notYet } from '../mount.ts'

export function accountsRoutes(mount: Mount): void {
  mount(api.accounts.get, notYet('Reading an account'))
  mount(api.accounts.batchFetch, notYet('Reading accounts'))
}
