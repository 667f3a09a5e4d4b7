/**
 * Counts requests in PostgreSQL, which several daemons share; requests of one turn of the event loop share a
 * transaction.
 */
import { type Services, systemClock } from '../../src/context.ts'
import { type Admission, admitRequests, type GroupAdmission } from '../../src/store/requests/rate-hits.ts'
import type { Counter, LimitedKey } from './counter.ts'

/** The most concurrent transactions: few, so that most connections are left for the requests themselves. */
const LANES = 3
/** Lanes that may wait for a key's lock; the last one never waits, so that a locked key does not delay other keys. */
const WAITING_LANES = LANES - 1
const KEYS_PER_TRANSACTION = 64

interface Queue {
  key: LimitedKey
  requests: { resolve(admission: Admission): void; reject(error: unknown): void }[]
  isUnderWay: boolean
  /** Whether another transaction had locked the key. Its requests now wait in their own transaction. */
  isLocked: boolean
}

export function sharedCounter({ store, clock }: Pick<Services, 'store' | 'clock'>) {
  const queues = new Map<string, Queue>()
  const counts = { lanes: 0, waiting: 0 }
  let isPlanned = false

  const plan = () => {
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      for (let batch = nextBatch(); batch !== undefined; batch = nextBatch()) void run(batch)
    })
  }

  /** The next transaction: one locked key, or all other waiting keys; undefined if no lane is free. */
  function nextBatch(): { batch: Queue[]; waits: boolean } | undefined {
    if (counts.lanes >= LANES) return undefined
    const mayWait = counts.waiting < WAITING_LANES
    const ready = [...queues.values()].filter(({ isUnderWay }) => !isUnderWay)
    const locked = ready.find(({ isLocked }) => isLocked)
    if (locked !== undefined && mayWait) return { batch: [locked], waits: true }
    const batch = ready.filter(({ isLocked }) => !isLocked).slice(0, KEYS_PER_TRANSACTION)
    return batch.length === 0 ? undefined : { batch, waits: mayWait && batch.length === 1 }
  }

  async function run({ batch, waits }: { batch: Queue[]; waits: boolean }): Promise<void> {
    const taken = batch.map((queue) => ({ queue, requests: queue.requests.splice(0) }))
    for (const queue of batch) queue.isUnderWay = true
    counts.lanes++
    if (waits) counts.waiting++
    try {
      const asked = taken.map(({ queue: { key }, requests }) => ({
        apiKeyId: key.id,
        wanted: requests.length,
        perMinute: key.per_minute,
        perDay: key.per_day,
      }))
      // Only an injected clock is passed on: the clocks of several machines differ, so the database's clock decides.
      const now = clock === systemClock ? undefined : clock.now()
      const answers = await store.write((tx) => admitRequests(tx, asked, { now, waits }))
      const byKey = new Map(answers.map((answer) => [answer.apiKeyId, answer]))
      for (const { queue, requests } of taken) {
        const answer = byKey.get(queue.key.id)
        queue.isLocked = answer === undefined
        if (answer === undefined) queue.requests.unshift(...requests)
        else settle(queue.key, requests, answer)
      }
    } catch (error) {
      for (const { requests } of taken) for (const { reject } of requests) reject(error)
    } finally {
      counts.lanes--
      if (waits) counts.waiting--
      for (const queue of batch) {
        queue.isUnderWay = false
        if (queue.requests.length === 0) queues.delete(queue.key.id)
      }
      if (queues.size > 0) plan()
    }
  }

  /** Gives each request its own position in the windows, in order of arrival. */
  function settle(key: LimitedKey, requests: Queue['requests'], answer: GroupAdmission): void {
    const { admitted, at, minute, day } = answer
    const refusedBy = key.per_minute !== null && minute.used >= key.per_minute ? 'minute' : 'day'
    for (const [n, { resolve }] of requests.entries()) {
      const later = Math.max(0, admitted - n - 1)
      resolve({
        refused_by: n < admitted ? null : refusedBy,
        at,
        minute: { ...minute, used: minute.used - later },
        day: { ...day, used: day.used - later },
      })
    }
  }

  return {
    admit(key: LimitedKey, _now: number): Promise<Admission> {
      return new Promise((resolve, reject) => {
        const queue = queues.get(key.id) ?? { key, requests: [], isUnderWay: false, isLocked: false }
        queue.key = key
        queue.requests.push({ resolve, reject })
        queues.set(key.id, queue)
        plan()
      })
    },
    // Only requests wait for an admission, and all of them end before this.
    async close() {},
  } satisfies Counter
}
