/** Receivers of webhooks in a process of their own: two that are quick, one that never answers and one that never ends. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Quick receivers count what they got, and say so each time it is what they were told to expect. */
let [got, expected] = [0, 0]

const quick: RequestListener = (request, response) => {
  request.resume().on('end', () => {
    response.end()
    if (++got === expected) process.send?.('all')
  })
}
const silent: RequestListener = (request) => void request.resume()
const streaming: RequestListener = (request, response) => {
  request.resume()
  response.writeHead(200)
  const drip = setInterval(() => response.write('x'), 100)
  response.on('close', () => clearInterval(drip))
}

const servers = [quick, quick, silent, streaming].map((listener) => createServer(listener))
const urls = await Promise.all(
  servers.map(
    (server) =>
      new Promise<string>((done) => {
        server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
      }),
  ),
)
process.on('message', (deliveries: number) => {
  got = 0
  expected = deliveries
  // What a silent one still holds from the run before would slow the next one down.
  for (const server of servers.slice(2)) server.closeAllConnections()
  process.send?.('ready')
})
process.on('disconnect', () => process.exit())
process.send?.(urls)
