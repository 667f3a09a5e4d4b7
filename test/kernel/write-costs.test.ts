/** What every write at its largest body leaves behind. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../src/api/route.ts'
import { MINIMAL } from '../api/bodies.ts'
import { onPostgres } from '../support/database.ts'
import { COSTS, ceilingOf, KIB, largestText, mountedWrites, nameOf, urlOf } from '../support/largest-bodies.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { inSoak } from '../support/runs.ts'
import { openService, removeFolder, type Service } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const RUNS = 4
const writes = await mountedWrites()
/** Writes of `npm test`, of every kind of body; the soak sends all. */
const SAMPLE = [
  'pools.verify',
  'airdrops.claim',
  'tokenTransfers.create',
  'transactions.submit',
  'webhookSubscriptions.update',
  'signer.updatePolicy',
  'signer.pause',
  'apiKeys.create',
]
const sent = inSoak ? writes : writes.filter((route) => SAMPLE.includes(nameOf(route)))

describe('a write with the largest body', { tags: 'sampled' }, () => {
  const folder = makeSharedFolder('svc-')
  let service: Service
  let hook = ''
  const keys = makeSharedFolder('svc-')
  beforeAll(async () => {
    const settings = { signer: 'keypair', 'signer.keypair': keypairFile(keys) }
    service = await openService({ dataDir: folder, settings })
    const body = { url: 'https://example.com', enabled_events: ['*'] }
    hook = (await service.request('POST', '/v2/webhook-subscriptions', { body })).json.data.id
  })
  afterAll(async () => {
    await service.close()
    removeFolder(folder)
    removeFolder(keys)
  })

  const size = async () => {
    if (onPostgres) {
      const bytes = sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`
      return Number((await bytes.execute(service.services.store.db)).rows[0]!.bytes)
    }
    const read = async (name: string) => {
      const { rows } = await sql<Record<string, number>>`${sql.raw(`pragma ${name}`)}`.execute(
        service.services.store.db,
      )
      return Object.values(rows[0]!)[0]!
    }
    return ((await read('page_count')) - (await read('freelist_count'))) * (await read('page_size'))
  }

  it('has a limit in this test for every mounted route', () => {
    expect(writes.map(nameOf).toSorted()).toEqual(Object.keys(COSTS).toSorted())
  })

  it.each(sent.map((route): [string, AnyRoute] => [nameOf(route), route]))(
    'adds little to the database: %s',
    async (name, route) => {
      const { stores, vary } = COSTS[name]!
      const text = largestText(route)
      expect(route.body.safeParse(JSON.parse(text)).error?.issues ?? []).toEqual([])
      expect(text.length).toBe(ceilingOf(route))
      const send = (body: string) =>
        service.request(route.method.toUpperCase(), urlOf(route, hook), {
          body,
          headers: { 'idempotency-key': randomUUID() },
        })

      const beyond = await send(`${text} `)
      expect([beyond.status, beyond.json.error.details]).toEqual([400, { limit_bytes: ceilingOf(route) }])

      // What is stored at the first use is not the body's.
      await send(JSON.stringify(MINIMAL[name]))
      await send(text)
      const before = await size()
      for (let run = 1; run <= RUNS; run++) await send(vary ? largestText(route, run) : text)
      expect(((await size()) - before) / RUNS / KIB).toBeLessThan(stores)
    },
  )
})
