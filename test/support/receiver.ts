/** A webhook receiver over real HTTP that remembers what came, and answers as the test says. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Delivered {
  id: string
  type: string
  sequence: number
  about: string
  body: string
  headers: IncomingHttpHeaders
  at: number
}

export interface Receiver {
  url: string
  /** In the order of arrival, refused ones too. */
  all: Delivered[]
  /** HTTP status of the next deliveries, or how long to keep quiet in milliseconds below 0. */
  answer: (delivered: Delivered) => number
  /** The body of the next answers. */
  says: string
  close(): Promise<void>
}

export async function openReceiver(answer: Receiver['answer'] = () => 200): Promise<Receiver> {
  const all: Delivered[] = []
  const receiver: Receiver = { url: '', all, answer, says: '', close: async () => {} }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { id, type, sequence, data } = JSON.parse(body)
      const about = (data?.object?.resource_id ?? '') as string
      const delivered = { id, type, sequence, about, body, headers: request.headers, at: Date.now() }
      all.push(delivered)
      const status = receiver.answer(delivered)
      if (status > 0) response.writeHead(status).end(receiver.says)
      else if (status < 0) setTimeout(() => response.writeHead(200).end(), -status).unref()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  receiver.close = () =>
    new Promise((done) => {
      server.closeAllConnections()
      server.close(() => done())
    })
  return receiver
}

/** One that ends with the test. */
export async function startReceiver(answer?: Receiver['answer']): Promise<Receiver> {
  const receiver = await openReceiver(answer)
  onTestFinished(() => receiver.close())
  return receiver
}
