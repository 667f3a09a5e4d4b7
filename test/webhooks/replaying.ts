/** Events in a database, subscriptions to them and replays, as the tests of replays ask for them. */
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import { numbers } from '../store/databases.ts'
import type { PostgresServer } from '../store/postgres-server.ts'
import { type Service, startService } from '../support/service.ts'

export const DATABASES = ['SQLite', 'PostgreSQL'] as const

/** A service on one of the two, for one test; the tests on PostgreSQL are skipped where there is none. */
export const startOn = async (name: (typeof DATABASES)[number], postgres: PostgresServer | { missing: string }) =>
  startService({
    settings: {
      'webhooks.allow-private': true,
      ...(name === 'PostgreSQL' && !('missing' in postgres)
        ? {
            'postgres.pool-timeout-ms': 60_000,
            'database-url': await postgres.createMigratedDatabase(),
            'encryption-key': '7'.repeat(64),
          }
        : {}),
    },
  })

export const happen = ({ services: { store, clock } }: Service, count: number, type = 'pool.live', at = clock.now()) =>
  store.write((tx) =>
    appendEvents(
      tx,
      numbers(count).map((n) => ({
        id: newId('evt'),
        type,
        resource_type: 'pool',
        resource_id: `pool-${n}`,
        object_json: '{}',
        external_uid: null,
        metadata_json: null,
        dedupe_key: newId('x'),
        created_at: at,
      })),
    ),
  )

export const subscribe = async ({ request }: Service, url: string, enabled_events = ['*']): Promise<string> => {
  const body = { url, enabled_events }
  return (await request('POST', '/v2/webhook-subscriptions', { body })).json.data.id
}
export const replay = async ({ request }: Service, id: string, since: unknown) =>
  request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body: { since } })

export const queued = async ({ services: { store } }: Service) =>
  (await store.db.selectFrom('webhook_queue').select('sequence').orderBy('sequence').execute()).map(
    (row) => row.sequence,
  )
export const open = ({ services: { store } }: Service) => store.db.selectFrom('webhook_replays').selectAll().execute()
