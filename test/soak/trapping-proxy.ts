/** A proxy before a JSON-RPC node, or any other HTTP server, that strikes at a chosen moment of a chosen call. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Trap {
  /** Of JSON-RPC; elsewhere the HTTP method and the path. */
  method: string
  /** Whether the method may go on, as a path with an id does. */
  isPrefix?: boolean
  /** Before the node hears of it, once the node has answered and nobody else knows, or when the answer is on its way. */
  when: 'asked' | 'answered' | 'delivered'
  /** The call that it strikes at, of those that fit: 1 is the first. */
  nth: number
  /** Only answers that hold this fit. */
  holding?: string
  /** After the answer went out, in milliseconds. */
  afterMs?: number
}

export interface TrappingProxy {
  url: string
  /** Sets the one trap; `strike` is called before anything else happens to the call. */
  arm(trap: Trap, strike: () => void): void
  disarm(): void
  /** How often each method was asked for. */
  readonly calls: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Listens on a port of its own and passes everything on to `target`. */
export async function startTrappingProxy(target: string): Promise<TrappingProxy> {
  const calls = new Map<string, number>()
  let armed: { trap: Trap; strike: () => void; left: number } | undefined

  /** True where the trap has struck: the caller is gone then. */
  function struck(method: string, when: Trap['when'], answer = ''): boolean {
    const { trap, strike } = armed ?? {}
    if (trap === undefined || !(trap.isPrefix ? method.startsWith(trap.method) : trap.method === method)) return false
    if (trap.when !== when || !answer.includes(trap.holding ?? '')) return false
    if (--armed!.left > 0) return false
    armed = undefined
    if (trap.afterMs === undefined) strike!()
    else setTimeout(strike!, trap.afterMs)
    return true
  }

  async function handle(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const method = (JSON.parse(body || '{}').method as string | undefined) ?? `${request.method} ${request.url}`
    calls.set(method, (calls.get(method) ?? 0) + 1)
    if (struck(method, 'asked')) return void response.destroy()
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
    const passed = await fetch(new URL(request.url!, target), {
      method: request.method!,
      headers,
      ...(body === '' ? {} : { body }),
    })
    const answer = await passed.text()
    if (struck(method, 'answered', answer)) return void response.destroy()
    response.writeHead(passed.status, { 'content-type': 'application/json' }).end(answer)
    struck(method, 'delivered', answer)
  }

  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('error', () => {})
    request.on('end', () => void handle(request, body, response).catch(() => response.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm(trap, strike) {
      armed = { trap, strike, left: trap.nth }
    },
    disarm() {
      armed = undefined
    },
    calls,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
