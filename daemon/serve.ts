/** `svc serve`: opens, listens, works, and shuts down in order. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createAdaptorServer, type ServerType } from '@hono/node-server'
import type { Config } from '../src/config.ts'
import { conflict } from '../src/errors.ts'
import { createApp } from './app.ts'
import { createLog } from './log.ts'
import { openServices, operatorKey } from './services.ts'
import { startHousekeeping } from './workers/housekeeping.ts'

export const DAEMON_FILE = 'daemon.json'
const DRAIN_MS = 10_000

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
    refuseSecond(config)
    await operatorKey(services)
    const app = await createApp(services)
    const server = createAdaptorServer({ fetch: app.fetch })
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

async function listen(server: ServerType, config: Config): Promise<string> {
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
async function drain(server: ServerType): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections()
    }, DRAIN_MS)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    if ('closeIdleConnections' in server) server.closeIdleConnections()
  })
}

function refuseSecond(config: Config): void {
  const file = join(config.dataDir, DAEMON_FILE)
  if (!existsSync(file)) return
  try {
    const { pid, url } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string }
    if (pid === process.pid) return
    process.kill(pid, 0)
    throw conflict(
      `A daemon already runs on this data folder: pid ${pid} at ${url}. Stop it, or choose another with --data-dir`,
    )
  } catch (error) {
    if (error instanceof Error && error.name === 'ApiError') throw error
  }
}

function writeDaemonFile(config: Config, url: string): void {
  const file = join(config.dataDir, DAEMON_FILE)
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}

function removeDaemonFile(config: Config): void {
  rmSync(join(config.dataDir, DAEMON_FILE), { force: true })
}
