/** A connection to the database that is delayed by a known time, so that round trips can be counted from outside. */
import { createConnection, createServer, type Socket } from 'node:net'

interface SlowLink {
  /** The database URL through the link. */
  url: string
  /** Milliseconds that each direction takes longer from now on. */
  delayMs: number
  close(): Promise<void>
}

export async function openSlowLink(databaseUrl: string): Promise<SlowLink> {
  const target = new URL(databaseUrl)
  const { hostname, port } = target
  const sockets = new Set<Socket>()
  const link: SlowLink = { url: '', delayMs: 0, close }
  const server = createServer((near) => {
    const far = createConnection(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true)
      sockets.add(from)
      from.on('data', (bytes) => {
        if (link.delayMs === 0) to.write(bytes)
        else setTimeout(() => to.write(bytes), link.delayMs)
      })
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.end()
      })
    }
  })
  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => server.close(done))
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the slow link has no port')
  target.port = String(address.port)
  link.url = target.href
  return link
}
