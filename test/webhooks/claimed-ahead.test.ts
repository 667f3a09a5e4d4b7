/** Deliveries that were claimed ahead: none begins once its subscription was changed, or its claim might end during it. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { OutgoingWebhook } from '../../src/operations/webhook-deliveries/send.ts'
import type { Store } from '../../src/store/store.ts'
import { changesSoFar, updateWebhookSubscription } from '../../src/store/webhooks/subscriptions.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { type Service, startService } from '../support/service.ts'
import { happen } from './replaying.ts'

const EVENTS = 300
/** By then a quick receiver has deliveries claimed ahead. */
const CHANGED_AT = 100
const ALLOWED = { 'webhooks.allow-private': true }
const [FORMER, LATER] = ['http://127.0.0.1:1/former', 'http://127.0.0.1:2/later']
const SUCCEEDED = { status: 200, error: null, duration_ms: 1 }
/** Time of an attempt and of writing its result. */
const ATTEMPT_MS = 14_000

const postgres = await startPostgres()

async function subscribedService(settings: Record<string, unknown>) {
  const service = await startService({ settings })
  const body = { url: FORMER, enabled_events: ['*'] }
  const { json } = await service.request('POST', '/v2/webhook-subscriptions', { body })
  await happen(service, EVENTS)
  return { service, path: `/v2/webhook-subscriptions/${json.data.id}`, secret: String(json.data.secret) }
}

const isSignedBy = ({ headers, body }: OutgoingWebhook, secret: string): boolean => {
  const header = String(headers['X-Service-Signature'])
  const signed = `${/^t=(\d+)/.exec(header)?.[1]}.${body}`
  return header.includes(`v1=${createHmac('sha256', secret).update(signed).digest('hex')}`)
}

interface Sent {
  id: string
  url: string
  isSignedByFormer: boolean
}

/** Makes the change in the middle of a round; returns what began before it was acknowledged, and what afterwards. */
async function changedMeanwhile(
  settings: Record<string, unknown>,
  change: (service: Service, path: string) => Promise<{ status: number }>,
) {
  const { service, path, secret } = await subscribedService(settings)
  const [before, after]: [Sent[], Sent[]] = [[], []]
  let begun = 0
  let sent = before
  let acknowledged: Promise<void> | undefined
  await deliverRound(service.services, {
    async send(outgoing) {
      const { url, headers } = outgoing
      sent.push({ id: String(headers['webhook-id']), url, isSignedByFormer: isSignedBy(outgoing, secret) })
      if (++begun === CHANGED_AT) {
        acknowledged = change(service, path).then(({ status }) => {
          expect(status).toBe(200)
          sent = after
        })
      }
      // None ends meanwhile, so that those that wait are still there afterwards.
      await (acknowledged ?? new Promise(setImmediate))
      return SUCCEEDED
    },
  })
  expect(before.length).toBeGreaterThanOrEqual(CHANGED_AT)
  expect(before.every(({ url, isSignedByFormer }) => url === FORMER && isSignedByFormer)).toBe(true)
  return { before, after, service }
}

const onBoth = (settings: () => Promise<Record<string, unknown>>) => {
  it('go to the new URL, each event once', async () => {
    const { before, after } = await changedMeanwhile(await settings(), ({ request }, path) =>
      request('PATCH', path, { body: { url: LATER } }),
    )
    expect(new Set(after.map(({ url }) => url))).toEqual(new Set([LATER]))
    expect(new Set([...before, ...after].map(({ id }) => id)).size).toBe(EVENTS)
    expect(before.length + after.length).toBe(EVENTS)
  })

  it('go to the new URL where it changes after they were claimed and before they start', async () => {
    const { service, path } = await subscribedService(await settings())
    const { store } = service.services
    let changed: number | undefined
    const changing: Store = {
      ...store,
      async write(work) {
        const worked = await store.write(work)
        // The first set that a write returns is that of the claims.
        if (changed === undefined && worked instanceof Set && worked.size > 0) {
          changed = worked.size
          expect((await service.request('PATCH', path, { body: { url: LATER } })).status).toBe(200)
        }
        return worked
      },
    }
    const urls: string[] = []
    await deliverRound(
      { ...service.services, store: changing },
      {
        async send({ url }) {
          urls.push(url)
          return SUCCEEDED
        },
      },
    )
    expect(changed).toBeGreaterThan(0)
    expect(urls).toEqual(Array(EVENTS).fill(LATER))
  })

  it('are made though another subscription changes whenever some are claimed', async () => {
    const { service } = await subscribedService(await settings())
    const { store } = service.services
    const body = { url: LATER, enabled_events: ['pool.failed'] }
    const { id } = (await service.request('POST', '/v2/webhook-subscriptions', { body })).json.data
    const claims: number[] = []
    const changing: Store = {
      ...store,
      async write(work) {
        const worked = await store.write(work)
        // Sets are those of claims. If all are given back each time, the claims end.
        if (worked instanceof Set && claims.length < 3 * EVENTS) {
          claims.push(...worked)
          await store.write((tx) => updateWebhookSubscription(tx, id, { enabled_events_json: '["pool.failed"]' }))
        }
        return worked
      },
    }
    await deliverRound({ ...service.services, store: changing }, { send: async () => SUCCEEDED })
    expect(claims.toSorted((a, b) => a - b)).toEqual([...new Set(claims)].toSorted((a, b) => a - b))
    expect(claims).toHaveLength(EVENTS)
  })

  it('are signed with the new secret alone, where the former one ends at once', async () => {
    const { before, after } = await changedMeanwhile(await settings(), ({ request }, path) =>
      request('POST', `${path}/secret-rotations`, { body: { overlap_hours: 0 } }),
    )
    expect(after.filter(({ isSignedByFormer }) => isSignedByFormer)).toEqual([])
    expect(before.length + after.length).toBe(EVENTS)
  })

  it('wait where the subscription is switched off, and go on where it is switched on', async () => {
    const { before, after, service } = await changedMeanwhile(await settings(), ({ request }, path) =>
      request('PATCH', path, { body: { active: false } }),
    )
    expect(after).toEqual([])
    const left = await service.services.store.db.selectFrom('webhook_queue').select('claimed_until').execute()
    expect(left).toEqual(Array(EVENTS - before.length).fill({ claimed_until: 0 }))
  })

  it('are not claimed where another daemon switches the subscription off after they were found', async () => {
    const { service } = await subscribedService(await settings())
    const { store } = service.services
    let isOff = false
    const elsewhere: Store = {
      ...store,
      async write(work) {
        const found = await store.db.selectFrom('webhook_queue').select('seq').limit(1).execute()
        if (!isOff && found.length > 0) {
          isOff = true
          await store.write((tx) => tx.updateTable('webhook_subscriptions').set({ active: 0 }).execute())
        }
        return store.write(work)
      },
    }
    const sent: string[] = []
    const send = async ({ url }: OutgoingWebhook) => {
      sent.push(url)
      return SUCCEEDED
    }
    await deliverRound({ ...service.services, store: elsewhere }, { send })
    expect([isOff, sent]).toEqual([true, []])
  })

  it('are not made where the subscription is removed', async () => {
    const { after } = await changedMeanwhile(await settings(), ({ request }, path) => request('DELETE', path))
    expect(after).toEqual([])
  })

  it('are given back, and made once, where their claim might end before they do', async () => {
    const { service } = await subscribedService(await settings())
    const { store, clock } = service.services
    const [ids, left]: [string[], number[]] = [[], []]
    await deliverRound(service.services, {
      async send({ headers }) {
        const id = String(headers['webhook-id'])
        const now = clock.now()
        if (ids.push(id) === CHANGED_AT) service.clock.advance(7_000)
        const row = store.db.selectFrom('webhook_queue').select('claimed_until').where('event_id', '=', id)
        left.push((await row.executeTakeFirstOrThrow()).claimed_until - now)
        return SUCCEEDED
      },
    })
    expect(Math.min(...left)).toBeGreaterThanOrEqual(ATTEMPT_MS)
    expect([ids.length, new Set(ids).size]).toEqual([EVENTS, EVENTS])
  })
}

describe('deliveries that were claimed ahead, on SQLite', () => onBoth(async () => ALLOWED))

if ('missing' in postgres) it.skip(`PostgreSQL cannot be run here (${postgres.missing})`, () => {})
else {
  const settings = async () => ({
    'postgres.pool-timeout-ms': 60_000,
    'database-url': await postgres.createMigratedDatabase(),
    'encryption-key': 'ab'.repeat(32),
    ...ALLOWED,
  })
  describe('deliveries that were claimed ahead, on PostgreSQL', () => onBoth(settings))
}

describe('a change of a subscription', () => {
  it('is counted after its commit, and never if it is rolled back', async () => {
    const { services, request } = await startService({ settings: ALLOWED })
    const body = { url: FORMER, enabled_events: ['*'] }
    const { id } = (await request('POST', '/v2/webhook-subscriptions', { body })).json.data
    const before = changesSoFar()
    const failing = services.store.write(async (tx) => {
      await updateWebhookSubscription(tx, id, { url: LATER })
      throw new Error('undone')
    })
    await expect(failing).rejects.toThrow('undone')
    expect(changesSoFar()).toBe(before)
    await services.store.write(async (tx) => {
      await updateWebhookSubscription(tx, id, { url: LATER })
      expect(changesSoFar()).toBe(before)
    })
    expect(changesSoFar()).toBe(before + 1)
  })
})
