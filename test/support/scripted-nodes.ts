/** A pool over nodes that answer as a test says, with a clock that a test moves. */

import type { EndpointReport } from '../../src/chain/nodes/endpoint.ts'
import { bodyOf } from '../../src/chain/nodes/node-call.ts'
import { nodeLine } from '../../src/chain/nodes/node-line.ts'
import { createNodePool } from '../../src/chain/nodes/pool.ts'
import type { RpcEndpoint } from '../../src/settings/config.ts'
import { shapeRedactor } from '../../src/settings/redaction.ts'

export interface Call {
  id: unknown
  method: string
  params: unknown[]
}

type Behaviour = (call: Call) => unknown

/** One node of a script: `answers` by method, `fault` before all of them. */
export interface ScriptedNode {
  genesis: string
  slot: number
  /** Results by method, or a function of the call; what is missing is answered by a plain value. */
  results: Record<string, Behaviour>
  /** Answers in place of everything else; undefined leaves the call alone. */
  fault: ((call: Call) => Response | Promise<Response> | undefined) | undefined
  asked: Call[]
}

export const GENESIS = 'HhNNhW8yDSNFzqNTwnWbMBUkVd2xJ6SHzsnmUqHsjVFZ'

export const scriptedNode = (given: Partial<ScriptedNode> = {}): ScriptedNode => ({
  genesis: GENESIS,
  slot: 1_000,
  results: {},
  fault: undefined,
  asked: [],
  ...given,
})

export const hang = () => new Promise<Response>(() => {})
export const http =
  (status: number, text = '', headers: Record<string, string> = {}) =>
  () =>
    new Response(text, { status, headers })
export const rpcError =
  (code: number, message = 'no', data?: unknown) =>
  ({ id }: Call) =>
    new Response(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }))

function resultOf(node: ScriptedNode, call: Call): unknown {
  const own = node.results[call.method]
  if (own !== undefined) return own(call)
  if (call.method === 'getGenesisHash') return node.genesis
  if (call.method === 'getSlot') return node.slot
  if (call.method === 'getBalance') return { context: { slot: node.slot }, value: 7 }
  return null
}

/** A clock that stands until it is moved, or until somebody waits. */
export function testClock() {
  let now = 10_000
  let timers: { at: number; act: () => void }[] = []
  const advance = (milliseconds: number) => {
    now += milliseconds
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { act } of due) act()
  }
  return {
    advance,
    elapsed: () => now,
    wait: async (milliseconds: number) => advance(milliseconds),
    after(milliseconds: number, act: () => void) {
      const timer = { at: now + milliseconds, act }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
  }
}

const answering =
  (node: ScriptedNode): typeof fetch =>
  async (_, init) => {
    const call = JSON.parse(String(init?.body)) as Call
    node.asked.push(call)
    const fault = node.fault?.(call)
    if (fault === undefined) return Response.json({ jsonrpc: '2.0', id: call.id, result: resultOf(node, call) })
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
    return Promise.race([fault, aborted])
  }

export function scriptedPool(
  nodes: readonly ScriptedNode[],
  { weights = [], kind = 'custom' }: { weights?: number[]; kind?: 'custom' | 'devnet' } = {},
) {
  const clock = testClock()
  const settings: RpcEndpoint[] = nodes.map((_, i) => ({
    url: `https://n${i}.test/?api-key=TOPSECRET${i}`,
    weight: weights[i] ?? 1,
    headers: {},
  }))
  const changes: EndpointReport[] = []
  const pool = createNodePool(settings, {
    onChange: (report) => changes.push(report),
    cluster: { kind, label: 'the test' },
    lineTo: (setting) =>
      nodeLine({ url: setting.url, fetch: answering(nodes[settings.indexOf(setting)]!) }, shapeRedactor),
    ...clock,
    ending: undefined,
  })
  const ask = async (method: string, params: unknown[] = []) => {
    const { text } = await pool.post(bodyOf({ method, params }), { method, params })
    return JSON.parse(text) as { result?: unknown; error?: { code: number } }
  }
  /** Lets everything run that waits for nothing but promises. */
  const idle = () => new Promise<void>((done) => setImmediate(done))
  return { pool, clock, ask, idle, changes }
}

/** How often a method was asked of each node. */
export const askedOf = (nodes: readonly ScriptedNode[], method: string) =>
  nodes.map(({ asked }) => asked.filter((call) => call.method === method).length)
