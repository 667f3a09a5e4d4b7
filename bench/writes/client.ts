/** Sends writes over raw sockets from a process of its own, so that the client costs the server little of its time. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Volley {
  url: string
  path: string
  /** Bearer key; empty for a server that asks for none. */
  token: string
  body: string
  connections: number
  requests: number
  /** Makes the Idempotency-Keys of this volley its own. */
  run: string
}

const END_OF_HEAD = '\r\n\r\n'

/** Sends one request after the other until `take` gives none. */
async function drain(socket: Socket, take: () => string | undefined): Promise<void> {
  await once(socket, 'connect')
  return new Promise((resolve, reject) => {
    let text = ''
    const send = () => {
      const request = take()
      if (request !== undefined) return void socket.write(request)
      socket.destroy()
      resolve()
    }
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (piece: string) => {
      text += piece
      const head = text.indexOf(END_OF_HEAD)
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (text.length < head + END_OF_HEAD.length + length) return
      if (!text.startsWith('HTTP/1.1 201')) return reject(new Error(`a write was answered: ${text.slice(0, 1_000)}`))
      text = ''
      send()
    })
    send()
  })
}

/** Returns the milliseconds that the whole volley took. */
async function fire({ url, path, token, body, connections, requests, run }: Volley): Promise<number> {
  const { hostname, port } = new URL(url)
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n')
  let sent = 0
  const take = () => (sent < requests ? `${head}\r\nIdempotency-Key: ${run}-${sent++}${END_OF_HEAD}${body}` : undefined)
  const from = performance.now()
  const lines = Array.from({ length: connections }, () => {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    return drain(socket, take)
  })
  await Promise.all(lines)
  return performance.now() - from
}

process.on('message', async (volley: Volley) => {
  try {
    process.send?.({ ms: await fire(volley) })
  } catch (error) {
    process.send?.({ error: String(error) })
  }
})
