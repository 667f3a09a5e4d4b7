/** Ed25519 keys for signers under test, and settings made of them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Config, loadConfig, type SettingName } from '../../src/settings/config.ts'
import { freshKey, signFresh } from '../../src/solana/signatures.ts'

export interface TestKey {
  address: string
  publicKey: Buffer
  /** What a Solana keypair file holds. */
  secretKey: number[]
  sign(message: Uint8Array): Buffer
}

export function testKey(): TestKey {
  const { address, publicKey, secretKey } = freshKey()
  return {
    address,
    publicKey: Buffer.from(publicKey),
    secretKey: [...secretKey],
    sign: (message) => Buffer.from(signFresh(secretKey, message)),
  }
}

/** The settings given and no other, whatever the environment holds. */
export const signerConfig = (settings: Partial<Record<SettingName, unknown>>): Config =>
  loadConfig({ flags: settings, env: {}, cwd: '/' })

/** What a provider under test does with its next requests, for as long as it is so told. */
export type Misbehaviour =
  | 'busy' // 429
  | 'unavailable' // 503
  | 'fails after signing' // 500
  | 'hangs'
  | 'hangs after signing'
  | 'wrong signature'
  | 'signature of another message'
  | 'torn answer'
  | 'breaks off'
  | 'no signature'
  | 'forbidden' // 403
  | 'redirects' // 307

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export interface ProviderServer {
  url: string
  /** Every request, in order. */
  requests: SeenRequest[]
  /** How often each message was signed, by its SHA-256 in hex. */
  signatures: Map<string, number>
  /** Undefined: it works. A number makes only so many requests go wrong. */
  misbehave(how: Misbehaviour | undefined, times?: number): void
  close(): Promise<void>
}

export interface Answer {
  status?: number
  body: unknown
}

/** Serves `answer` as JSON on a port of its own; `onRequest` may take the answer over by returning true. */
export async function serveJson(
  answer: (request: SeenRequest) => Answer,
  onRequest: (request: SeenRequest, response: ServerResponse) => boolean,
  port = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body: Buffer.concat(chunks).toString() }
    if (onRequest(request, response)) return
    const { status = 200, body } = answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
