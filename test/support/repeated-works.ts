/** Has every work of a store run twice, the first time undone, as where another work of its commit fails. */
import { sql } from 'kysely'
import type { Store } from '../../src/store/store.ts'

export function repeatWorks(store: Store): void {
  const { write } = store
  store.write = (work, options) =>
    write(async (tx) => {
      await sql`savepoint first_run`.execute(tx)
      try {
        await work(tx)
      } finally {
        await sql`rollback to savepoint first_run`.execute(tx)
      }
      return work(tx)
    }, options)
}
