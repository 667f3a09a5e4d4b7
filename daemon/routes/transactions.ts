/** Mounts the routes of transactions, one line per verb. */
import { api } from '../../src/api/index.ts'
import { getTransaction } from '../../src/operations/transactions/get-transaction.ts'
import { simulateTransaction } from '../../src/operations/transactions/simulate-transaction.ts'
import { submitTransaction } from '../../src/operations/transactions/submit-transaction.ts'
import type { Mount } from '../mount.ts'

export function transactionsRoutes(mount: Mount): void {
  mount(api.transactions.submit, submitTransaction)
  mount(api.transactions.get, getTransaction)
  mount(api.transactions.simulate, simulateTransaction)
}
