/** Ten thousand events to a receiver that fails at random, the daemon killed ten times on the way: none lost, none out of order. */

import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/settings/config.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import { openStore } from '../../src/store/open.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { randomOf } from '../support/random.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

/** SOAK_SEED=n fails and kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 7)
const EVENTS = 10_000
const RESOURCES = 400
const KILLS = 10

/** Written beside the daemon, as events of a busy day. */
async function happen(dataDir: string): Promise<void> {
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env: {}, cwd: dataDir })
  const store = await openStore({ dataDir: config.dataDir })
  for (let at = 0; at < EVENTS; at += 500) {
    await store.write((tx) =>
      appendEvents(
        tx,
        Array.from({ length: 500 }, (_, n) => ({
          id: newId('evt'),
          type: 'pool.live',
          resource_type: 'pool',
          resource_id: `pool-${(at + n) % RESOURCES}`,
          object_json: JSON.stringify({ n: at + n }),
          external_uid: null,
          metadata_json: null,
          dedupe_key: newId('x'),
          created_at: Date.now(),
        })),
      ),
    )
  }
  await store.close()
}

describe.each([
  ['a tenth', 0.1],
  ['three tenths', 0.3],
] as const)(`with SOAK_SEED=${SEED}, a receiver that fails %s of its deliveries`, (_, share) => {
  const dataDir = makeSharedFolder('svc-')
  const clockFile = join(dataDir, 'clock')
  const { next: random } = randomOf(SEED)
  let receiver: Receiver
  let daemon: Daemon
  let [kills, reactivated, seconds] = [0, 0, 0]

  const start = () =>
    startDaemon({
      dataDir,
      flags: ['--rpc-port', '0'],
      env: {
        NODE_ENV: 'test',
        SVC_TEST_CLOCK_FILE: clockFile,
        SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
        SVC_LOG_LEVEL: 'error',
      },
    })
  let ahead = 0
  const advance = (ms: number) => {
    ahead += ms
    // As a whole: the daemon reads it at any moment.
    writeFileSync(`${clockFile}.new`, String(ahead))
    renameSync(`${clockFile}.new`, clockFile)
  }
  const accepted = new Set<number>()

  beforeAll(async () => {
    writeFileSync(clockFile, '0')
    // The last tenth of the resources fails always, until it is told otherwise, where a subscription is to be switched off.
    let broken = share > 0.2
    receiver = await openReceiver(({ sequence, about }) => {
      if ((broken && about === 'pool-399') || random() < share) return 503
      accepted.add(sequence)
      return 200
    })
    daemon = await start()
    const body = { url: receiver.url, enabled_events: ['*'] }
    const { id } = (await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data
    await happen(dataDir)
    const began = performance.now()
    while ((kills < KILLS || accepted.size < EVENTS) && performance.now() - began < 480_000) {
      const before = receiver.all.length
      await delay(kills < KILLS ? 300 + random() * 1_200 : 1_500)
      if (kills < KILLS) {
        await daemon.stop('SIGKILL')
        kills++
        daemon = await start()
      }
      const { active } = (await daemon.request('GET', `/v2/webhook-subscriptions/${id}`)).json.data
      if (!active) {
        broken = false
        reactivated++
        await daemon.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
      }
      // Where nothing moves any more, what is left waits for its next attempt; and what a killed one held, for its claim.
      if (receiver.all.length - before < 20) advance(86_400_000)
      else advance(21_000)
    }
    seconds = (performance.now() - began) / 1000
  }, 600_000)
  afterAll(async () => {
    await daemon?.stop()
    await receiver?.close()
    removeFolder(dataDir)
  })

  it('delivers every event, none lost, duplicates under the same id', () => {
    process.stdout.write(
      `  ${EVENTS} events, ${receiver.all.length} deliveries, ${kills} kills, switched on again ${reactivated} times, ${seconds.toFixed(0)} s\n`,
    )
    expect(kills).toBe(KILLS)
    expect(accepted.size).toBe(EVENTS)
    if (share > 0.2) expect(reactivated).toBeGreaterThan(0)
    const ids = new Map<number, Set<string>>()
    for (const { sequence, id } of receiver.all) ids.set(sequence, (ids.get(sequence) ?? new Set()).add(id))
    expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([])
    expect(receiver.all.every(({ id, headers }) => headers['webhook-id'] === id)).toBe(true)
  })

  it('makes first attempts about one thing in order', () => {
    const seen = new Set<number>()
    const firsts = new Map<string, number[]>()
    for (const { about, sequence } of receiver.all) {
      if (seen.has(sequence)) continue
      seen.add(sequence)
      firsts.set(about, [...(firsts.get(about) ?? []), sequence])
    }
    const wrong = [...firsts.values()].filter((list) => list.some((sequence, i) => i > 0 && sequence < list[i - 1]!))
    expect(wrong).toEqual([])
  })
})
