/** Transactions: one line per verb. */
import { api } from '../../src/api/index.ts'
import { getTransaction } from '../../src/operations/transactions/get-transaction.ts'
import { simulateTransaction } from '../../src/operations/transactions/simulate-transaction.ts'
import { type Mount, notYet } from '../mount.ts'

export function transactionsRoutes(mount: Mount): void {
  mount(api.transactions.submit, notYet('Submitting a transaction'))
  mount(api.transactions.get, getTransaction)
  mount(api.transactions.simulate, simulateTransaction)
}
