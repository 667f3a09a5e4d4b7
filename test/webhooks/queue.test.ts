/** The delivery queue: which deliveries of a subscription may be sent next, on both databases. */
import { afterAll, describe, expect, it } from 'vitest'
import { resumeHeld } from '../../src/store/webhooks/outcomes.ts'
import { sendable } from '../../src/store/webhooks/queue.ts'
import { freshStore, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'

const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)
afterAll(async () => {
  if (!('missing' in server)) await server.stop()
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('the delivery queue on %s', (_, database) => {
  it.skipIf(!database)('sends a resumed delivery after the earlier ones of its resource', async () => {
    const store = await freshStore(database!)
    const rows = [
      ['whs_1', 'evt_1', 1, 'waiting', 0],
      ['whs_1', 'evt_2', 2, 'waiting', 0],
      ['whs_1', 'evt_3', 3, 'waiting', 2],
      ['whs_1', 'evt_4', 4, 'held', 7],
      ['whs_2', 'evt_1', 1, 'held', 7],
    ] as const
    await store.write(async (tx) => {
      for (const [subscription_id, event_id, sequence, state, attempts] of rows) {
        const about = { subscription_id, event_id, sequence, resource: `pool:${sequence % 2}`, state, attempts }
        await tx
          .insertInto('webhook_queue')
          .values({ ...about, next_attempt_at: 0, claimed_until: 0 })
          .execute()
      }
    })
    const ids = async () =>
      (await sendable(store.db, { id: 'whs_1', cursor: 10, has_retries: 1 }, 1, 10)).map(({ event_id }) => event_id)
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    await store.write((tx) => resumeHeld(tx, 'whs_1', 0))
    // The fourth waits for the second, of the same resource.
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    await store.write((tx) => tx.deleteFrom('webhook_queue').where('event_id', '=', 'evt_2').execute())
    expect(await ids()).toEqual(['evt_1', 'evt_3', 'evt_4'])
    const held = store.db.selectFrom('webhook_queue').select('subscription_id').where('state', '=', 'held')
    expect(await held.execute()).toEqual([{ subscription_id: 'whs_2' }])
  })
})
