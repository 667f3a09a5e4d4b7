/** Shuts a daemon down in order, within ten seconds after `drain-seconds`, and immediately after a second signal. */
import type { Server } from 'node:http'
import type { Log } from '../src/platform/log.ts'

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
export type StopSignal = keyof typeof NUMBERS
/** Milliseconds until outgoing calls to nodes, relays, webhook receivers and providers are aborted. */
const ABORT_CALLS_MS = 5_000
/** Milliseconds until connections with unanswered requests are closed. */
const CLOSE_CONNECTIONS_MS = 7_000
/** Milliseconds until the process exits in any case. Everything that was answered is stored. */
const EXIT_MS = 9_500
const SWEEP_MS = 50

interface ShutdownSteps {
  /** Reports that this process takes no more work, while it still answers; resolves when others had time to notice. */
  announce(): Promise<void>
  /** Stops accepting work; resolves when all work is done. */
  stop(): Promise<unknown>
  /** Aborts every outgoing call. */
  abortCalls(): void
  /** Closes the connections that clients still hold open. */
  closeConnections(): void
  /** Writes buffered data and closes every service. */
  finish(): Promise<void>
}

interface Shutdown {
  /** Starts the shutdown at the first call; every call resolves when it is complete. */
  close(): Promise<void>
  /** Resolves when everything is closed. */
  closed: Promise<void>
}

/**
 * Shuts down at the first of the signals or `close`, and ends the process at once when another SIGINT or SIGTERM
 * arrives.
 */
export function onShutdown(log: Log, signals: readonly StopSignal[], parts: ShutdownSteps): Shutdown {
  let finished!: () => void
  const closed = new Promise<void>((resolve) => {
    finished = resolve
  })
  let closing: Promise<void> | undefined

  async function run(): Promise<void> {
    await parts.announce()
    const timers = [
      later(ABORT_CALLS_MS, () => {
        log.warn({}, 'outgoing calls to nodes and receivers are aborted')
        parts.abortCalls()
      }),
      later(CLOSE_CONNECTIONS_MS, () => parts.closeConnections()),
    ]
    let isClosed = false
    // This timer is never cancelled: a connection that the other side keeps open must not keep the process running.
    later(EXIT_MS, () => {
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
  for (const signal of signals) {
    process.on(signal, () => {
      // A second SIGINT or SIGTERM requests an immediate end. SIGHUP does not, because a terminal may send it several
      // times.
      if (closing !== undefined && signal !== 'SIGHUP') process.exit(128 + NUMBERS[signal])
      if (closing === undefined) log.info({ signal }, 'shutting down')
      void close()
    })
  }
  return { close, closed }
}

const later = (milliseconds: number, act: () => void) => setTimeout(act, milliseconds)

/** Stops accepting connections and waits for the current requests. */
export async function drain(server: Server): Promise<void> {
  // A keep-alive connection becomes idle only after its answer is sent, so idle connections are closed repeatedly.
  const sweeper = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  await new Promise<void>((resolve) => void server.close(() => resolve()))
  clearInterval(sweeper)
}
