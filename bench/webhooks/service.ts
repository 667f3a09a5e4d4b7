/** A service with subscriptions and events in its own folder, whose deliveries are measured. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../daemon/app.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'

interface BenchService {
  /** Delivers until nothing is due, with every result in the database. */
  deliver(): Promise<void>
  close(): Promise<void>
}

/** Opens one with a subscription for each URL, and then as many events. */
export async function benchService(urls: readonly string[], events: number): Promise<BenchService> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-webhooks-'))
  const flags = { 'data-dir': folder, 'webhooks.allow-private': true }
  const services = await openServices(loadConfig({ flags, env: {}, cwd: folder }))
  const key = await operatorKey(services)
  const app = await createApp(services)
  for (const url of urls) {
    const request = new Request('http://bench/v2/webhook-subscriptions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url, enabled_events: ['*'] }),
    })
    if ((await app.fetch(request)).status !== 201) throw new Error(`no subscription of ${url}`)
  }
  const happened = Array.from({ length: events }, (_, n) => ({
    id: newId('evt'),
    type: 'pool.live',
    resource_type: 'pool',
    resource_id: `pool-${n}`,
    object_json: '{}',
    external_uid: null,
    metadata_json: null,
    dedupe_key: newId('x'),
    created_at: Date.now(),
  }))
  await services.store.write((tx) => appendEvents(tx, happened))
  return {
    deliver: () => deliverRound(services),
    async close() {
      await app.close()
      await services.close()
      rmSync(folder, { recursive: true })
    },
  }
}
