/** Local webhook receivers, which answer at once and count what came. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Receivers {
  urls: string[]
  /** Deliveries since the last `reset`. */
  readonly count: number
  /** Resolves once as many have come since the last `reset`. */
  reached(count: number): Promise<void>
  reset(): void
  close(): void
}

/** Each is a separate origin, because the requests to one origin at once are limited. */
export async function openReceivers(origins: number): Promise<Receivers> {
  let count = 0
  let waiting: { count: number; resolve: () => void } | undefined
  const servers = Array.from({ length: origins }, () =>
    createServer((request, response) => {
      request.resume().on('end', () => {
        count++
        if (waiting !== undefined && count >= waiting.count) waiting.resolve()
        response.end()
      })
    }),
  )
  const urls = await Promise.all(servers.map(listen))
  return {
    urls,
    get count() {
      return count
    },
    reached: (wanted) =>
      new Promise((resolve) => {
        waiting = { count: wanted, resolve }
        if (count >= wanted) resolve()
      }),
    reset() {
      count = 0
    },
    close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  })
}
