/** Mounts the routes of transactions, one line per verb. */
import { transactions } from '../../src/api/transactions.ts'
import { fetchTransactions } from '../../src/operations/transactions/fetch-transactions.ts'
import { forecastTransactions } from '../../src/operations/transactions/forecast-transactions.ts'
import {
  getBalanceChanges,
  getTransaction,
  listTransactions,
} from '../../src/operations/transactions/read-transactions.ts'
import { refreshTransactions } from '../../src/operations/transactions/refresh-transactions.ts'
import { simulateTransaction } from '../../src/operations/transactions/simulate-transaction.ts'
import { submitTransaction } from '../../src/operations/transactions/submit-transaction.ts'
import type { Mount } from '../mount.ts'

export function transactionsRoutes(mount: Mount): void {
  mount(transactions.submit, submitTransaction)
  mount(transactions.refresh, refreshTransactions)
  mount.stored(transactions.list, listTransactions)
  mount(transactions.get, getTransaction)
  mount(transactions.changes, getBalanceChanges)
  mount(transactions.batchFetch, fetchTransactions)
  mount(transactions.simulate, simulateTransaction)
  mount(transactions.forecast, forecastTransactions)
}
