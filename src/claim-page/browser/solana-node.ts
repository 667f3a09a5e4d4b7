/** Calls Solana nodes by JSON-RPC: several in turn, each only after a check that it is of the right cluster. */
import { pause } from '../../platform/timing.ts'
import { DEFAULT_SETTINGS, slotTimeOf } from '../../solana/cluster-settings.ts'
import { foreignWords, PageFault } from './page-fault.ts'

/** A node answered with an error. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly data: unknown

  constructor(message: string, code: number, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

const ANSWER_MS = 15_000
const MOST_ANSWER_CHARACTERS = 4_000_000
const WAITS_MS = [400, 1_200, 2_500]
/** JSON-RPC codes of nodes that are behind or overloaded; another node may do better. */
const PASSING_CODES = new Set([-32004, -32005, -32014, -32016, -32603, 429])

const INVALID_PARAMS = -32602

const asksForConfirmed = (param: unknown): param is object =>
  typeof param === 'object' && param !== null && 'commitment' in param && param.commitment === 'confirmed'

/** Nodes of one cluster, for the page's requests. */
export class SolanaNode {
  readonly urls: readonly string[]
  readonly #genesisHash: string
  readonly #checks = new Map<string, Promise<void>>()
  #isWithoutConfirmed = false
  #slotMs: Promise<number> | undefined
  #next = 0
  #calls = 0

  constructor(urls: readonly string[], genesisHash: string) {
    this.urls = urls
    this.#genesisHash = genesisHash
  }

  /** Throws RpcRefusal if a node refuses, and PageFault if none answers or one is of another cluster. */
  async call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const url = this.urls[this.#next % this.urls.length] ?? ''
      try {
        await this.#checked(url)
        return await this.#askInTerms(url, method, params)
      } catch (error) {
        const isFinal = error instanceof PageFault || (error instanceof RpcRefusal && !PASSING_CODES.has(error.code))
        if (isFinal) throw error
        this.#next++
        const wait = WAITS_MS[attempt]
        if (wait === undefined)
          throw error instanceof RpcRefusal ? error : new PageFault('nodeLost', { node: nodeHost(url) })
        await pause(wait)
      }
    }
  }

  /** Returns the milliseconds that a slot took in the cluster's last minute, or usually takes. Asks once. */
  slotMs(): Promise<number> {
    const usual = DEFAULT_SETTINGS.slotMs
    this.#slotMs ??= this.call('getRecentPerformanceSamples', [1]).then(
      (samples) => slotTimeOf(samples) ?? usual,
      () => usual,
    )
    return this.#slotMs
  }

  /** Checks once that the node is of the cluster of the page; a wrong one is remembered as wrong. */
  #checked(url: string): Promise<void> {
    const known = this.#checks.get(url)
    if (known !== undefined) return known
    const check = this.#ask(url, 'getGenesisHash', []).then((hash) => {
      if (hash !== this.#genesisHash) throw new PageFault('wrongCluster', { node: nodeHost(url) })
    })
    this.#checks.set(url, check)
    check.catch((error) => {
      if (!(error instanceof PageFault)) this.#checks.delete(url)
    })
    return check
  }

  /** On Alpenglow `confirmed` means `finalized`, and is to be removed: a node that refuses it is asked for that. */
  async #askInTerms(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
    const final = params.map((param) => (asksForConfirmed(param) ? { ...param, commitment: 'finalized' } : param))
    if (this.#isWithoutConfirmed || !params.some(asksForConfirmed)) return this.#ask(url, method, final)
    try {
      return await this.#ask(url, method, params)
    } catch (error) {
      if (!(error instanceof RpcRefusal) || error.code !== INVALID_PARAMS) throw error
      const result = await this.#ask(url, method, final)
      this.#isWithoutConfirmed = true
      return result
    }
  }

  async #ask(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#calls, method, params }),
      signal: AbortSignal.timeout(ANSWER_MS),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    })
    const text = await answer.text()
    if (text.length > MOST_ANSWER_CHARACTERS) throw new Error('the answer is too long')
    const json = JSON.parse(text) as { result?: unknown; error?: { code?: number; message?: string; data?: unknown } }
    if (json.error) {
      throw new RpcRefusal(foreignWords(json.error.message), Number(json.error.code ?? 0), json.error.data)
    }
    if (!answer.ok || json.result === undefined) throw new Error('no result')
    return json.result
  }
}

/** The host of a URL, for display. */
export function nodeHost(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return foreignWords(url, 60)
  }
}
