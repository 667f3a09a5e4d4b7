/** A node that answers from memory what the embedded chain answered to the same request the first time. */
import type { LocalRpc } from '../../src/localnet/rpc/index.ts'

/** What these answer does not depend on the accounts that they are asked for, which hold fresh keys. */
const SAME_FOR_ALL = new Set(['simulateTransaction', 'getRecentPrioritizationFees', 'getLatestBlockhash'])

export interface StubNode {
  fetch: typeof fetch
  /** Answers of one kind of transaction are not those of another: a simulation's above all. */
  startKind(name: string): void
  /** How often the chain was asked since the last kind was started. A warm build asks it nothing. */
  asked(): number
}

export function stubNode(rpc: LocalRpc): StubNode {
  const known = new Map<string, string>()
  let kind = ''
  let asked = 0
  const answer = async (body: string): Promise<string> => {
    const { method, params } = JSON.parse(body) as { method: string; params: unknown }
    const key = `${kind} ${method} ${SAME_FOR_ALL.has(method) ? '' : JSON.stringify(params)}`
    const existing = known.get(key)
    if (existing !== undefined) return existing
    asked++
    const text = (await rpc.handle(body)) ?? ''
    known.set(key, text)
    return text
  }
  return {
    fetch: async (_, init) => new Response(await answer(String(init?.body)), { status: 200 }),
    startKind(name) {
      kind = name
      asked = 0
    },
    asked: () => asked,
  }
}
