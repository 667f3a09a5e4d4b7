/** How a daemon ends: in order, within ten seconds whatever is outside, and at once where a signal comes twice. */
import type { Server } from 'node:http'
import type { Log } from '../src/log.ts'

/** SIGHUP comes of a terminal that closes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
/** What calls to nodes, relays, receivers and providers are given to end by themselves. */
const HURRY_MS = 5_000
/** Then what is still unanswered loses its connection. */
const CUT_MS = 7_000
/** The end, whatever still holds the process: everything that was answered is stored. */
const END_MS = 9_500
const SWEEP_MS = 50

export interface Parts {
  /** Takes nothing new; resolves when nothing is under way any more. */
  stop(): Promise<unknown>
  /** Ends every call out. */
  hurry(): void
  /** Closes what clients still hold. */
  cut(): void
  /** Writes what is buffered and closes everything. */
  finish(): Promise<void>
}

export interface Shutdown {
  /** The first call begins it; every call resolves at its end. */
  close(): Promise<void>
  /** Resolves when everything is closed. */
  closed: Promise<void>
}

/** Shuts down at the first signal or `close`, and ends the process at once where another SIGINT or SIGTERM comes. */
export function onShutdown(log: Log, parts: Parts): Shutdown {
  let finished!: () => void
  const closed = new Promise<void>((resolve) => {
    finished = resolve
  })
  let closing: Promise<void> | undefined

  async function run(): Promise<void> {
    const timers = [
      later(HURRY_MS, () => {
        log.warn({}, 'what is under way to nodes and receivers is ended')
        parts.hurry()
      }),
      later(CUT_MS, () => parts.cut()),
    ]
    let isClosed = false
    // Not called off: a connection that somebody else holds open must not keep the process.
    later(END_MS, () => {
      if (!isClosed) log.error({}, 'the daemon did not shut down in time and ends now')
      process.exit(isClosed ? undefined : 1)
    }).unref()
    try {
      await parts.stop()
      await parts.finish()
    } catch (error) {
      log.error({ err: error }, 'the daemon did not shut down in order')
      process.exitCode = 1
    }
    isClosed = true
    for (const timer of timers) clearTimeout(timer)
    finished()
  }

  const close = () => {
    closing ??= run()
    return closing
  }
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait; a terminal may hang up several times.
      if (closing !== undefined && signal !== 'SIGHUP') process.exit(128 + NUMBERS[signal])
      if (closing === undefined) log.info({ signal }, 'shutting down')
      void close()
    })
  }
  return { close, closed }
}

const later = (milliseconds: number, act: () => void) => setTimeout(act, milliseconds)

/** Stops accepting and waits for the requests under way. */
export async function drain(server: Server): Promise<void> {
  // A connection that is kept alive falls idle only when its answer is out.
  const sweeper = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  await new Promise<void>((resolve) => void server.close(() => resolve()))
  clearInterval(sweeper)
}
