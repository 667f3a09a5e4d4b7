/** The stream of server-sent events: names the parts that changed, so that open pages read themselves again. */
import type { FoundSession } from '../../src/operations/console-sessions.ts'
import { rateLimited } from '../../src/platform/errors.ts'
import { SECOND_MS } from '../../src/platform/timing.ts'
import type { Kernel } from '../kernel.ts'

/** What a page can be about. `time`: what changes without an event, such as workers and attempts of deliveries. */
export type Part = 'events' | 'transactions' | 'pools' | 'time'

/** The work that was just stored for a worker says what has changed. */
const PARTS: Readonly<Record<string, Part>> = {
  'webhook-delivery': 'events',
  'transaction-watcher': 'transactions',
  'pool-migration': 'pools',
}

const EVERY_MS = 10 * SECOND_MS
/** Links of one operator share a key, and nobody who has a key can take the places of all. */
const MOST = { perSession: 8, perKey: 32, inAll: 64 }
/** Messages that wait for a browser that reads none; with more, its stream ends. */
const MOST_UNREAD = 64
const encoder = new TextEncoder()

type Tell = (parts: readonly Part[]) => void
type Session = Pick<FoundSession, 'id'> & { key: Pick<FoundSession['key'], 'id'> }

export interface Streams {
  /** The body of one stream; `isOpen` says whether its session still is. Throws rate_limited beyond the limits. */
  open(session: Session, isOpen: () => Promise<boolean>): ReadableStream<Uint8Array>
}

export function createStreams({ store, log, stopping }: Pick<Kernel, 'store' | 'log' | 'stopping'>): Streams {
  const listeners = new Map<Tell, Session>()
  let stop: Promise<() => Promise<void>> | undefined

  const tellAll: Tell = (parts) => {
    for (const tell of listeners.keys()) tell(parts)
  }
  const add = (tell: Tell, session: Session) => {
    listeners.set(tell, session)
    // One listener for all streams, because on PostgreSQL each takes a connection.
    stop ??= store.wakeups.listen((worker) => {
      const part = worker === null ? 'time' : PARTS[worker]
      if (part !== undefined) tellAll([part])
    }, log)
  }
  const remove = (tell: Tell) => {
    listeners.delete(tell)
    if (listeners.size > 0) return
    void stop?.then((end) => end())
    stop = undefined
  }

  return {
    open(session, isOpen) {
      const ofKey = [...listeners.values()].filter(({ key }) => key.id === session.key.id)
      const own = ofKey.filter(({ id }) => id === session.id)
      if (own.length >= MOST.perSession || ofKey.length >= MOST.perKey || listeners.size >= MOST.inAll) {
        throw rateLimited('Too many pages of the console are open', EVERY_MS / SECOND_MS)
      }
      let end = () => {}
      return new ReadableStream({
        start(controller) {
          const tell: Tell = (parts) => {
            if ((controller.desiredSize ?? 0) <= -MOST_UNREAD) end()
            else controller.enqueue(encoder.encode(`data: ${parts.join(' ')}\n\n`))
          }
          const timer = setInterval(() => {
            void isOpen()
              .catch(() => true)
              .then((open) => (open ? tell(['time']) : end()))
              .catch(() => undefined)
          }, EVERY_MS)
          timer.unref()
          end = () => {
            clearInterval(timer)
            stopping.removeEventListener('abort', end)
            if (!listeners.has(tell)) return
            remove(tell)
            controller.close()
          }
          stopping.addEventListener('abort', end)
          add(tell, session)
          controller.enqueue(encoder.encode(': open\n\n'))
        },
        cancel() {
          end()
        },
      })
    },
  }
}
