/** Wake-ups over PostgreSQL's LISTEN and NOTIFY; a lost listening connection is replaced. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../platform/log.ts'
import type { OnWake, Wakeups } from '../store.ts'
import { localWakeups, spacedWakes } from '../workers/wakeups.ts'

const CHANNEL = 'svc_wakeups'
/** Minimum time between two notifications of a process; those in between are combined. */
const NOTIFY_GAP_MS = 50
/** The network may drop a connection that is idle for longer, without notifying either end. */
const HEARTBEAT_MS = 30_000
const RECONNECT_MS = { first: 100, last: 5_000 }

interface PostgresWakeupsOptions {
  /** Sends a notification over a connection of the pool. */
  notify(channel: string, payload: string): Promise<unknown>
  /** A new connection outside the pool, not yet connected. Connecting and queries have time limits. */
  newClient(): pg.Client
}

interface PostgresWakeups extends Wakeups {
  /** Sends what is pending and stops listening. */
  close(): Promise<void>
}

/** Creates the wake-ups of a process. A process never hears its own notifications, because it wakes itself at once. */
export function createPostgresWakeups({ notify, newClient }: PostgresWakeupsOptions): PostgresWakeups {
  const local = localWakeups()
  const instance = randomBytes(6).toString('hex')
  const sender = createNotifier((workers) => notify(CHANNEL, `${instance} ${workers.join(' ')}`))
  const stops = new Set<() => Promise<void>>()

  return {
    send(worker) {
      local.send(worker)
      sender.add(worker)
    },
    async listen(onWake, log) {
      const spaced = spacedWakes(onWake)
      const stopLocal = await local.listen(onWake, log)
      const stopRemote = await keepListening({ newClient, onWake: spaced, instance, log })
      const stop = async () => {
        stops.delete(stop)
        await Promise.all([stopLocal(), stopRemote()])
      }
      stops.add(stop)
      return stop
    },
    async close() {
      await sender.close()
      await Promise.all([...stops].map((stop) => stop()))
    },
  }
}

interface Notifier {
  add(worker: string): void
  close(): Promise<void>
}

/** Sends names together: the first at once, and those that follow it closely after a gap. */
function createNotifier(notify: (workers: string[]) => Promise<unknown>): Notifier {
  const pending = new Set<string>()
  let sending: Promise<void> | undefined
  let gap: NodeJS.Timeout | undefined

  function flush(): void {
    if (pending.size === 0 || sending !== undefined || gap !== undefined) return
    const workers = [...pending]
    pending.clear()
    // A lost notification delays the receivers by one period of their schedule.
    sending = notify(workers)
      .catch(() => undefined)
      .then(() => {
        sending = undefined
        gap = setTimeout(() => {
          gap = undefined
          flush()
        }, NOTIFY_GAP_MS).unref()
      })
  }

  return {
    add(worker) {
      pending.add(worker)
      flush()
    },
    async close() {
      await sending
      clearTimeout(gap)
      gap = undefined
      flush()
      await sending
      clearTimeout(gap)
    },
  }
}

interface ListenOptions {
  newClient: PostgresWakeupsOptions['newClient']
  onWake: OnWake
  /** Name of this process; its own notifications are ignored. */
  instance: string
  log: Log
}

/** Resolves after the first attempt to listen, with a function that stops listening. */
async function keepListening({ newClient, onWake, instance, log }: ListenOptions): Promise<() => Promise<void>> {
  const stopper = new AbortController()
  const { signal } = stopper

  function onNotification({ payload = '' }: pg.Notification): void {
    const [sender, ...workers] = payload.split(' ')
    if (sender !== instance) for (const worker of workers) onWake(worker)
  }

  async function run(first: Listening | null): Promise<void> {
    let [waitMs, current] = [RECONNECT_MS.first, first]
    for (;;) {
      if (current !== null) {
        // Notifications from before this connection listened are lost, so every worker checks once.
        onWake(null)
        waitMs = RECONNECT_MS.first
        await current.lost
        if (!signal.aborted)
          log.warn({}, 'the connection for wake-ups was lost; until it is back, workers run on their schedule')
      }
      await delay(waitMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      waitMs = Math.min(waitMs * 2, RECONNECT_MS.last)
      current = await openListening(newClient, onNotification, signal)
      if (current !== null) log.info({}, 'wake-ups of other daemons arrive again')
    }
  }

  const first = await openListening(newClient, onNotification, signal)
  if (first === null) log.warn({}, 'cannot connect for wake-ups; until this succeeds, workers run on their schedule')
  const done = run(first)
  return async () => {
    stopper.abort()
    await done
  }
}

interface Listening {
  /** Resolves when the connection is lost or `signal` is aborted. */
  lost: Promise<void>
}

/** Returns null if no connection can be made. An aborted `signal` ends the connection. */
async function openListening(
  newClient: ListenOptions['newClient'],
  onNotification: (notification: pg.Notification) => void,
  signal: AbortSignal,
): Promise<Listening | null> {
  const client = newClient()
  let isLost = false
  const lost = new Promise<void>((resolve) => {
    const lose = () => {
      if (isLost) return
      isLost = true
      clearInterval(heartbeat)
      signal.removeEventListener('abort', lose)
      // The other end may have disappeared, so nothing waits for the connection to close.
      client.end().catch(() => undefined)
      resolve()
    }
    const heartbeat = setInterval(() => client.query('select 1').catch(lose), HEARTBEAT_MS).unref()
    client.on('error', lose)
    client.on('end', lose)
    signal.addEventListener('abort', lose)
  })
  client.on('notification', onNotification)
  try {
    await Promise.race([client.connect().then(() => client.query(`listen ${CHANNEL}`)), lost])
  } catch {
    client.emit('end')
  }
  return isLost ? null : { lost }
}
