/** A mixed load on a fleet of daemons, which is taken down as its clients saw it. */
import type { Connection, Keypair } from '@solana/web3.js'
import { pause } from '../../src/platform/timing.ts'
import type { randomOf } from '../support/random.ts'
import type { Answer, Ask } from '../support/request.ts'
import type { Seen } from '../support/rolling-window.ts'
import { wallet } from '../support/trees.ts'
import type { Asked, Fleet } from './daemon-fleet.ts'
import { STATUS_OF, WRITE_KINDS, type Write, type WriteKind, writeOf } from './mixed-writes.ts'

/** One of a hundred requests each; an odd sum would leave some out. */
const SHARES = {
  record: 15,
  list: 11,
  proof: 5,
  events: 6,
  health: 4,
  limited: 14,
  write: 22,
  retry: 13,
  race: 3,
  mismatch: 3,
  refused: 4,
} as const
type Kind = keyof typeof SHARES
const KINDS = Object.entries(SHARES).flatMap(([kind, share]) => Array<Kind>(share).fill(kind as Kind))

const WEIGHTS: Record<WriteKind, number> = { key: 30, hook: 4, tree: 30, transaction: 28, memo: 8 }
const DRAWN = WRITE_KINDS.flatMap((kind) => Array<WriteKind>(WEIGHTS[kind]).fill(kind))

const LISTS = ['/v2/merkle-trees', '/v2/api-keys', '/v2/webhook-subscriptions', '/v2/tokens', '/v2/pools']

/** How long a client waits before it sends again what was not answered, or not finally. */
const AGAIN_MS = 100
/** A blockhash may be used for a minute. */
const BLOCKHASH_MS = 5_000

export interface Done extends Write {
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers and assert what they find
  data: any
}

interface LoadKeys {
  /** May do everything, with limits that nobody reaches. */
  main: string
  /** Reads, and is over its limit most of the time. */
  limited: string
  /** Without scopes. */
  bare: string
}

interface LoadOptions {
  fleet: Fleet
  chain: Connection
  payers: readonly Keypair[]
  keys: LoadKeys
  random: ReturnType<typeof randomOf>
}

interface Timed {
  kind: 'health' | 'read' | 'write'
  ms: number
  calm: boolean
}

export type MixedLoad = ReturnType<typeof createMixedLoad>

export function createMixedLoad({ fleet, chain, payers, keys, random }: LoadOptions) {
  const done: Done[] = []
  /** Transactions that came to the node a minute after they were signed, when a daemon was killed or slow. */
  const expired: Write[] = []
  const times: Timed[] = []
  const limited: Seen[] = []
  /** What no client should ever see. */
  const wrong: string[] = []
  /** How often each thing was met. */
  const met: Record<string, number> = {}
  const meet = (what: string) => {
    met[what] = (met[what] ?? 0) + 1
  }
  let [count, asked] = [0, 0]
  let hash = { blockhash: Promise.resolve(''), until: 0 }

  const complain = (what: string, answer: Answer) =>
    wrong.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`)

  async function send(kind: Timed['kind'], at: number, method: string, path: string, ask: Ask): Promise<Asked> {
    asked++
    const seen = await fleet.ask(at, method, path, ask)
    if (seen.answer === null) meet('no answer')
    else times.push({ kind, ms: seen.answered - seen.sent, calm: seen.calm })
    return seen
  }

  /** Whether the answer is one that says to come again later. */
  function isForLater({ status, headers, json }: Answer): boolean {
    if (status === 500 && headers.has('retry-after')) meet('500 with Retry-After')
    else if (status === 409 && json.error.message.includes('still in progress')) meet('409 still in progress')
    // The chain runs on the same machine, and may be slow there.
    else if (status === 500 && json.error.message.startsWith('The RPC node of')) meet('500 the node did not answer')
    else return false
    return true
  }

  /** Sends until there is a final answer, each time to another daemon. */
  async function settle(kind: Timed['kind'], method: string, path: string, ask: Ask, first?: number): Promise<Answer> {
    for (let at = first ?? fleet.pick(); ; at = fleet.pick(at)) {
      const { answer } = await send(kind, at, method, path, ask)
      if (answer !== null && !isForLater(answer)) return answer
      await pause(AGAIN_MS)
    }
  }

  const read = (path: string, key = keys.main) => settle('read', 'GET', path, { key })
  const submit = ({ path, body, key }: Write, first?: number) =>
    settle('write', 'POST', path, { key: keys.main, body, headers: { 'idempotency-key': key } }, first)

  async function expectRead(path: string): Promise<Answer> {
    const answer = await read(path)
    if (answer.status !== 200) complain(path, answer)
    return answer
  }

  async function nextWrite(): Promise<Write> {
    if (hash.until < Date.now()) {
      const asking = chain.getLatestBlockhash().then(({ blockhash }) => blockhash)
      hash = { blockhash: asking, until: Date.now() + BLOCKHASH_MS }
    }
    const blockhash = await hash.blockhash
    const n = count++
    return writeOf(random.pick(DRAWN), n, { payer: payers[n % payers.length]!, blockhash })
  }

  function acknowledge(write: Write, answer: Answer): void {
    const isExpired = write.kind === 'transaction' && answer.text.includes('BlockhashNotFound')
    if (isExpired) return void expired.push(write)
    if (answer.status !== STATUS_OF[write.kind]) return void complain(`${write.key} (${write.kind})`, answer)
    done.push({ ...write, text: answer.text, data: answer.json.data })
  }

  const someDone = (kinds: readonly WriteKind[] = WRITE_KINDS): Done | undefined => {
    for (let look = 0; look < 20 && done.length > 0; look++) {
      const one = random.pick(done)
      if (kinds.includes(one.kind)) return one
    }
    return undefined
  }

  const refusals: readonly (readonly [status: number, method: string, path: string, ask: Ask])[] = [
    [401, 'GET', '/v2/pools', { key: null }],
    [403, 'GET', '/v2/pools', { key: 'svc_live_00000000000000000000000000000000' }],
    [403, 'POST', '/v2/api-keys', { key: keys.bare, body: { name: 'refused' } }],
    [404, 'GET', '/v2/events/evt_none', { key: keys.main }],
    [400, 'POST', '/v2/api-keys', { key: keys.main, body: { name: '' }, headers: { 'idempotency-key': 'refused' } }],
    [400, 'POST', '/v2/merkle-trees', { key: keys.main, body: { mint: wallet(1), entries: [] } }],
  ]

  const requests: Record<Kind, () => Promise<unknown>> = {
    health: () => settle('health', 'GET', '/v2/health', { key: null }),
    async record() {
      const one = someDone(['tree', 'transaction', 'hook'])
      if (one === undefined) return
      const id = one.kind === 'transaction' ? one.data.signature : one.data.id
      await expectRead(`${one.path}/${id}`)
    },
    async list() {
      const path = random.pick(LISTS)
      const { json } = await expectRead(`${path}?limit=20`)
      if (json?.meta?.next_cursor) await expectRead(`${path}?limit=20&cursor=${json.meta.next_cursor}`)
    },
    async proof() {
      const one = someDone(['tree'])
      if (one === undefined) return
      const answer = await expectRead(`/v2/merkle-trees/${one.data.id}/proofs/${wallet(0)}`)
      if (answer.json.data?.root !== one.data.root) complain(`proof of ${one.key}`, answer)
    },
    events: () => expectRead('/v2/events?limit=50'),
    async limited() {
      const { answer, sent, answered } = await send('read', fleet.pick(), 'GET', '/v2/pools', { key: keys.limited })
      limited.push({ sent, answered, status: answer?.status ?? 0 })
      if (answer !== null && ![200, 429].includes(answer.status) && !isForLater(answer)) complain('limited', answer)
    },
    async write() {
      const write = await nextWrite()
      acknowledge(write, await submit(write))
    },
    async retry() {
      const one = someDone()
      if (one === undefined) return
      const answer = await submit(one)
      if (answer.text !== one.text || answer.headers.get('idempotent-replayed') !== 'true') complain(one.key, answer)
    },
    async race() {
      const write = await nextWrite()
      const first = fleet.pick()
      const [one, other] = await Promise.all([submit(write, first), submit(write, fleet.pick(first))])
      if (one.text !== other.text) complain(`${write.key} sent twice, and answered ${one.text}`, other)
      acknowledge(write, one)
    },
    async mismatch() {
      const one = someDone()
      if (one === undefined) return
      const answer = await submit({ ...one, body: { ...one.body, metadata: { other: 'body' } } })
      if (answer.status !== 409) complain(`another body of ${one.key}`, answer)
    },
    async refused() {
      const [status, method, path, ask] = random.pick(refusals)
      const answer = await settle('read', method, path, ask)
      if (answer.status !== status) complain(`${method} ${path}`, answer)
    },
  }

  return {
    done,
    expired,
    times,
    limited,
    wrong,
    met,
    /** How many requests were sent. */
    asked: () => asked,
    read,
    submit,
    /** Sends mixed requests, as many at a time as `parallel`, until so many were sent. */
    async run(total: number, parallel: number): Promise<void> {
      await Promise.all(
        Array.from({ length: parallel }, async () => {
          while (asked < total) await requests[random.pick(KINDS)]()
        }),
      )
    },
  }
}

/** The value below which a share of the times lies, in milliseconds. */
export function percentile(times: readonly Timed[], share: number): number {
  const sorted = times.map(({ ms }) => ms).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
