/** Queueing new events for 10,000 subscriptions: what a filter costs, against subscriptions without one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fanOut } from '../src/operations/webhook-deliveries/enqueuing.ts'
import { silentLog } from '../src/platform/log.ts'
import { appendEvents } from '../src/store/events/events.ts'
import { newId } from '../src/store/id.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type Cost, costOf, type Measurement, medianOf, ratiosOf } from './measurement.ts'

const SUBSCRIPTIONS = 10_000
/** Of each measurement; a launch causes about as many. */
const EVENTS = 10
const [WARM_UPS, ROUNDS] = [1, 5]
const WALLET = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'

/** A subscription of one measurement; `filter` differs from one to the next. */
interface Kind {
  types: readonly string[]
  filter?: (n: number) => object
}
const ALL = ['*']
/** Each kind wants none or all of the events: the events are of `pool.live`. */
const KINDS = {
  'no type': { types: ['pool.failed'] },
  'no event by a field': {
    types: ALL,
    filter: (n) => ({ fields: [{ field: 'data.symbol', values: [`S${n}`, `T${n}`] }] }),
  },
  'no event by an address': { types: ALL, filter: (n) => ({ types: ['pool.*'], addresses: [addressOf(n)] }) },
  'all events': { types: ALL },
  'all events by a field': { types: ALL, filter: () => ({ fields: [{ field: 'data.status', values: ['live'] }] }) },
} satisfies Record<string, Kind>
type KindName = keyof typeof KINDS

const addressOf = (n: number) => WALLET.slice(0, -5) + String(n).padStart(5, '1').replaceAll('0', 'z')

/** A minute. */
export async function filters(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-filters-'))
  const store = await openStore({ dataDir: folder })
  try {
    const costs = Object.fromEntries(Object.keys(KINDS).map((name) => [name, [] as Cost[]])) as Record<KindName, Cost[]>
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      for (const name of Object.keys(KINDS) as KindName[]) {
        const cost = await costOfQueueing(store, KINDS[name])
        if (round >= 0) costs[name].push(cost)
      }
    }
    const pairs = SUBSCRIPTIONS * EVENTS
    const measured = (name: KindName, floor: KindName): Measurement => ({
      name: `10,000 subscriptions to ${name}`,
      value: (medianOf(costs[name], 'wall') * 1_000) / pairs,
      unit: 'µs for each event',
      ...ratiosOf(costs[name], costs[floor]),
      floor: `to ${floor}, without a filter`,
    })
    return [
      measured('no event by a field', 'no type'),
      measured('no event by an address', 'no type'),
      measured('all events by a field', 'all events'),
    ]
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

/** The cost of queueing the events for subscriptions of one kind, which are all that there are. */
async function costOfQueueing(store: Store, { types, filter }: Kind): Promise<Cost> {
  await store.write(async (tx) => {
    await tx.deleteFrom('webhook_queue').execute()
    await tx.deleteFrom('webhook_subscriptions').execute()
    const { value } = await tx
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'events')
      .executeTakeFirstOrThrow()
    for (let from = 0; from < SUBSCRIPTIONS; from += 500) {
      const rows = Array.from({ length: 500 }, (_, n) => ({
        id: newId('whs'),
        url: 'https://example.com/hooks',
        enabled_events_json: JSON.stringify(types),
        filter_json: filter === undefined ? null : JSON.stringify(filter(from + n)),
        active: 1,
        secret: Buffer.from('sealed'),
        secret_preview: 'abcd',
        disabled_reason: null,
        cursor: value,
        created_at: 1,
        updated_at: 1,
      }))
      await tx.insertInto('webhook_subscriptions').values(rows).execute()
    }
    await appendEvents(tx, Array.from({ length: EVENTS }, event))
  })
  const services = { store, clock: { now: Date.now }, log: silentLog }
  return costOf(async () => {
    while (await fanOut(services));
  })
}

const event = () => ({
  id: newId('evt'),
  type: 'pool.live',
  resource_type: 'pool',
  resource_id: 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
  object_json: JSON.stringify({
    address: 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
    creator: WALLET,
    status: 'live',
    symbol: 'FIRST',
    name: 'First Token',
  }),
  external_uid: null,
  metadata_json: null,
  dedupe_key: newId('x'),
  created_at: Date.now(),
})
