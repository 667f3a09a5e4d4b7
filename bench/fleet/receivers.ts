/** Local webhook receivers: they answer at once or after a while, and count what came. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Receivers {
  urls: string[]
  /** Deliveries that were answered, by event id where `remember` was asked for. */
  readonly count: number
  readonly arrivals: Map<string, number>
  /** Resolves once as many have come since the last `reset`. */
  reached(count: number): Promise<void>
  reset(): void
  close(): void
}

/** Each is an origin of its own, because what one origin may have at once is bounded. */
export async function openReceivers(origins: number, { answerMs = 0, remember = false } = {}): Promise<Receivers> {
  const arrivals = new Map<string, number>()
  let count = 0
  let waiting: { count: number; resolve: () => void } | undefined
  const came = () => {
    count++
    if (waiting !== undefined && count >= waiting.count) waiting.resolve()
  }
  const servers = Array.from({ length: origins }, () =>
    createServer((request, response) => {
      const id = request.headers['webhook-id']
      if (remember && typeof id === 'string' && !arrivals.has(id)) arrivals.set(id, Date.now())
      request.resume().on('end', () => {
        came()
        if (answerMs === 0) response.end()
        else setTimeout(() => response.end(), answerMs)
      })
    }),
  )
  const urls = await Promise.all(servers.map(listen))
  return {
    urls,
    get count() {
      return count
    },
    arrivals,
    reached: (wanted) =>
      new Promise((resolve) => {
        waiting = { count: wanted, resolve }
        if (count >= wanted) resolve()
      }),
    reset() {
      count = 0
      arrivals.clear()
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
