/** Replays of thousands of events: in bounded steps, without delay for new events. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { advanceReplays, fanOut } from '../../src/operations/webhook-deliveries/enqueuing.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { DATABASES, happen, open, queued, replay, startOn, subscribe } from '../webhooks/replaying.ts'

const postgres = await startPostgres()

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = () => startOn(name, postgres)

  it.skipIf(missing)(
    'a replay queues its first step at once, reports its position, and continues as the receiver keeps up',
    async () => {
      const service = await start()
      const receiver = await startReceiver()
      await happen(service, 3_000)
      const id = await subscribe(service, receiver.url)
      const answer = await replay(service, id, 0)
      expect(answer.json.data).toEqual({ queued: 1_000, through_sequence: 1_000, last_sequence: 3_000 })
      // The receiver has a thousand before it: no more are queued for now.
      await advanceReplays(service.services, { after: 0 })
      expect((await queued(service)).length).toBe(1_000)
      await deliverRound(service.services)
      expect(receiver.all.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
        numbers(3_000).map((n) => n + 1),
      )
      expect(await open(service)).toEqual([])
    },
  )

  it.skipIf(missing)('new events do not wait for a replay, and are delivered once', async () => {
    const service = await start()
    const receiver = await startReceiver()
    await happen(service, 2_500, 'token.created')
    const id = await subscribe(service, receiver.url)
    await happen(service, 4)
    // It has not come to the last four yet.
    expect((await replay(service, id, 0)).json.data).toEqual({
      queued: 1_000,
      through_sequence: 1_000,
      last_sequence: 2_504,
    })
    const { store } = service.services
    await store.write((tx) => tx.deleteFrom('webhook_queue').execute())
    await fanOut(service.services)
    expect(await queued(service)).toEqual([2_501, 2_502, 2_503, 2_504])
    await deliverRound(service.services)
    const all = receiver.all.map(({ sequence }) => sequence)
    expect(all.toSorted((a, b) => a - b)).toEqual(numbers(1_504).map((n) => n + 1_001))
    // By the order of events they would come last of all.
    const places = [2_501, 2_502, 2_503, 2_504].map((sequence) => all.indexOf(sequence))
    expect(Math.max(...places)).toBeLessThan(200)
  })
})
