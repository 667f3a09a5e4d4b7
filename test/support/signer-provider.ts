/** A provider that really signs, over real HTTP, counts what it signs, and fails as the test says. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import {
  type Answer,
  type Misbehaviour,
  type ProviderServer,
  type SeenRequest,
  serveJson,
  type TestKey,
} from './signer-keys.ts'

export interface ProviderShape {
  key: TestKey
  /** Answer of a request that asks for no signature, or refuses one; undefined: the next is asked. */
  read(request: SeenRequest): Answer | undefined
  /** The bytes that a request wants signed. Throws where the request is not as the provider's API documents it. */
  message(request: SeenRequest): Uint8Array
  /** The provider's answer with this signature; undefined: one that holds none. */
  signed(signature: Buffer | undefined): unknown
  /** Told of every signature. */
  onSigned?: (hash: string) => void
  port?: number
}

export async function startProvider(shape: ProviderShape): Promise<ProviderServer> {
  const requests: SeenRequest[] = []
  const signatures = new Map<string, number>()
  let misbehaviour: Misbehaviour | undefined
  let left = 0

  const sign = (message: Uint8Array): Buffer => {
    const hash = createHash('sha256').update(message).digest('hex')
    signatures.set(hash, (signatures.get(hash) ?? 0) + 1)
    shape.onSigned?.(hash)
    return shape.key.sign(message)
  }

  function answer(request: SeenRequest): Answer {
    const read = shape.read(request)
    if (read !== undefined) return read
    try {
      return { body: shape.signed(sign(shape.message(request))) }
    } catch (error) {
      return { status: 400, body: { errors: [String(error)] } }
    }
  }

  function goWrong(how: Misbehaviour, request: SeenRequest, response: ServerResponse): void {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const message = () => shape.message(request)
    switch (how) {
      case 'busy':
        return void send(429, { errors: ['slow down'] })
      case 'unavailable':
        return void send(503, { errors: ['sealed'] })
      case 'forbidden':
        return void send(403, { errors: ['permission denied'], echo: request.headers })
      case 'redirects':
        return void response.writeHead(307, { location: `http://127.0.0.1:1${request.path}` }).end()
      case 'fails after signing':
        sign(message())
        return void send(500, { errors: ['internal error'] })
      case 'hangs after signing':
        sign(message())
        return
      case 'hangs':
        return
      case 'wrong signature':
        sign(message())
        return void send(200, shape.signed(Buffer.alloc(64, 7)))
      case 'signature of another message':
        return void send(200, shape.signed(sign(Buffer.from('another message'))))
      case 'no signature':
        sign(message())
        return void send(200, shape.signed(undefined))
      case 'torn answer':
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(shape.signed(sign(message()))).slice(0, -20))
      case 'breaks off':
        sign(message())
        response.writeHead(200, { 'content-length': '1000' }).write('{"data"')
        setImmediate(() => response.destroy())
    }
  }

  const server = await serveJson(
    answer,
    (request, response) => {
      requests.push(request)
      if (misbehaviour === undefined || left <= 0) return false
      // What asks for no signature can't go wrong after one.
      if (shape.read(request) !== undefined && !/^(busy|unavailable|hangs|forbidden)$/.test(misbehaviour)) return false
      left -= 1
      goWrong(misbehaviour, request, response)
      return true
    },
    shape.port,
  )
  return {
    ...server,
    requests,
    signatures,
    misbehave(how, times = Number.POSITIVE_INFINITY) {
      misbehaviour = how
      left = times
    },
  }
}
