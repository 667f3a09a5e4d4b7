/** `svc serve`: opens, listens, works, and shuts down in order. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../src/config.ts'
import { type ApiError, conflict } from '../src/errors.ts'
import { createApp } from './app.ts'
import { createHttpServer } from './http-server.ts'
import { lockFolder } from './lock.ts'
import { createLog } from './log.ts'
import { openServices, operatorKey } from './services.ts'
import { startHousekeeping } from './workers/housekeeping.ts'

export const DAEMON_FILE = 'daemon.json'
const DRAIN_MS = 10_000
const SWEEP_MS = 50

export interface Serving {
  url: string
  /** Resolves when the daemon has shut down. */
  closed: Promise<void>
  /** Stops accepting, answers what is under way, writes what is buffered. */
  close(): Promise<void>
}

/** Starts the daemon; resolves when it listens. Throws conflict when one runs on this data folder already. */
export async function serve(config: Config): Promise<Serving> {
  const log = createLog(config)
  const services = await openServices(config, log)
  try {
    const unlock = await lockFolder(config.dataDir)
    if (unlock === undefined) throw secondDaemon(config)
    await operatorKey(services)
    const app = await createApp(services, { processMetrics: true })
    const server = createHttpServer(app)
    const url = await listen(server, config)
    writeDaemonFile(config, url)
    const housekeeping = startHousekeeping(services)
    log.info({ url, database: services.store.kind, data_dir: config.dataDir }, 'listening')

    let closing: Promise<void> | undefined
    const { promise: closed, resolve } = deferred()
    const close = () => {
      closing ??= (async () => {
        log.info({}, 'shutting down')
        await drain(server)
        await housekeeping.stop()
        await app.close()
        removeDaemonFile(config)
        await services.close()
        unlock()
        resolve()
      })()
      return closing
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
    return { url, closed, close }
  } catch (error) {
    await services.close()
    throw error
  }
}

function deferred() {
  let resolve!: () => void
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

async function listen(server: Server, config: Config): Promise<string> {
  const { host, port } = config.values
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? conflict(`Port ${port} of ${host} is taken; choose another with --port, or 0 for any`)
          : error,
      )
    })
    server.listen(port, host, resolve)
  })
  const { address, family, port: bound } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}

/** Stops accepting and waits for the requests under way, ten seconds at most. */
async function drain(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections()
    }, DRAIN_MS)
    // A connection that is kept alive falls idle only when its answer is out.
    const sweeper = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    server.close(() => {
      clearTimeout(timer)
      clearInterval(sweeper)
      resolve()
    })
  })
}

function secondDaemon({ dataDir }: Config): ApiError {
  const file = join(dataDir, DAEMON_FILE)
  let which = ''
  try {
    const { pid, url } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string }
    which = `: pid ${pid} at ${url}`
  } catch {
    // It has not written its file yet.
  }
  return conflict(`A daemon already runs on this data folder${which}. Stop it, or choose another with --data-dir`)
}

function writeDaemonFile(config: Config, url: string): void {
  const file = join(config.dataDir, DAEMON_FILE)
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}

function removeDaemonFile(config: Config): void {
  rmSync(join(config.dataDir, DAEMON_FILE), { force: true })
}
