/** An RPC node over an embedded chain that fails as the test says: one fault for one request, put in at the `fetch`. */
import { onTestFinished, vi } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import { openChain } from '../../src/chain/connection.ts'
import { slotAtCommitment } from '../../src/localnet/chain-settings.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import type { Log } from '../../src/platform/log.ts'
import { loadConfig } from '../../src/settings/config.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { DEFAULT_SETTINGS } from '../../src/solana/cluster-settings.ts'
import { COMMITMENT_DEPTH, type Commitment } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { databaseSettings } from './database.ts'
import { openTestChain } from './local-chain.ts'
import { requester } from './request.ts'
import { ORIGIN, temporaryFolder } from './service.ts'

/** Holds a key, as providers' URLs do: it must not be seen in any answer or log. */
export const NODE_URL = 'https://node.faulty.test/?api-key=TOPSECRET'
/** How far a node lags that is `behind`. */
export const LAG = 50
const STALE = 140
/** Answers that a `repeated answer` can come from. */
const MOST_EARLIER = 3_000
const BLOCKHASH_SLOTS = 150
/** What is younger may be missing on another fork; what is older is final on every one. */
const FORK_DEPTH = 31

const ANY = [
  'busy',
  'busy, retry after',
  'http 500',
  'http 503',
  'html',
  'malformed',
  'node unhealthy',
  'timeout',
  'reset',
  'answer lost',
] as const
const READS = ['repeated answer', 'behind', 'other fork'] as const
const SENDS = ['dropped send', 'double send', 'phantom'] as const
const BLOCKHASH = ['stale blockhash'] as const

/** `phantom`: it lands on a fork that is dropped, and is seen there as processed for a while. */
export type Fault = (typeof ANY | typeof READS | typeof SENDS | typeof BLOCKHASH)[number]
export const FAULTS: readonly Fault[] = [...ANY, ...READS, ...SENDS, ...BLOCKHASH]

/** The faults that a request of this method can meet. */
export function faultsOf(method: string): readonly Fault[] {
  if (method === 'sendTransaction') return [...ANY, ...SENDS]
  if (method === 'getLatestBlockhash') return [...ANY, ...BLOCKHASH]
  return [...ANY, ...READS]
}

export interface FaultyNode {
  fetch: typeof fetch
  /** Chooses what goes wrong with the next request; undefined: nothing. */
  decide: (method: string) => Fault | undefined
  /** Slots that every answer lags, whatever `decide` says. */
  lag: number
  /** Slots that only the index of signatures lags behind the accounts. */
  indexLag: number
  /** Slot from which its commitments are those of Alpenglow; null on Tower. */
  alpenglowSlot: number | null
  /** Faults put in so far. */
  counts: Map<Fault, number>
  /** Base64 of every transaction that was handed over, with how often. */
  sent: Map<string, number>
  /** Requests by method. */
  asked: Map<string, number>
  /** The answers to this transaction say that it has landed, until the slot; it has not. */
  haunt(signature: string, level: 'processed' | 'confirmed', slots: number): void
}

interface Status {
  slot: number
  confirmations: number | null
  status: unknown
  err: unknown
  confirmationStatus: Commitment
}

type Listed = Pick<Status, 'slot' | 'err' | 'confirmationStatus'> & { signature: string }

interface AccountsConfig {
  commitment?: Commitment
  encoding?: string
  dataSlice?: { offset: number; length: number }
  /** Of a simulation. */
  accounts?: unknown
  replaceRecentBlockhash?: boolean
}

interface View {
  lag: number
  forked: boolean
}

interface Call {
  id: unknown
  method: string
  params: unknown[]
}

const HTML = '<html><head><title>502</title></head>\n<body>Bad gateway at upstream</body></html>'

export function createFaultyNode(chain: LocalChain): FaultyNode {
  const rpc = createRpc(chain)
  const earlier = new Map<string, string>()
  const phantoms = new Map<string, { slot: number; until: number; level: Commitment }>()
  const versions = versionsOf(chain)
  const slotOf = blockhashSlots(chain)

  const plain = async (call: Call) =>
    JSON.parse((await rpc.handle(JSON.stringify({ jsonrpc: '2.0', ...call }))) as string) as {
      result: { context: { slot: number }; value: unknown }
    }

  const atSlot = (commitment: unknown, { lag }: View) =>
    slotAtCommitment(chain.slot() - lag, (commitment as Commitment) ?? 'finalized', node.alpenglowSlot)

  function statusOf(signature: string, status: Status | null, view: View): Status | null {
    const tip = chain.slot() - view.lag
    if (status === null) {
      const phantom = phantoms.get(signature)
      if (phantom === undefined || phantom.slot > tip || chain.slot() >= phantom.until) return null
      const { slot, level } = phantom
      const confirmations = COMMITMENT_DEPTH.tower[level]
      return { slot, confirmations, status: { Ok: null }, err: null, confirmationStatus: level }
    }
    const depth = tip - status.slot
    const final = status.slot <= atSlot('finalized', view)
    if (depth < 0 || (view.forked && !final && depth < FORK_DEPTH)) return null
    const isConfirmed = status.slot <= atSlot('confirmed', view)
    const confirmationStatus = final ? 'finalized' : isConfirmed ? 'confirmed' : 'processed'
    return { ...status, confirmations: final ? null : depth, confirmationStatus }
  }

  /** An entry of a list, as far as the node has confirmed it. */
  function listedAt(listed: Listed, view: View): Listed[] {
    const status = statusOf(listed.signature, { ...listed, confirmations: null, status: null }, view)
    if (status === null || status.confirmationStatus === 'processed') return []
    return [{ ...listed, confirmationStatus: status.confirmationStatus }]
  }

  /** What a node says that has come as far as `view`; a blockhash counts for the bank of the commitment, as in Agave. */
  async function answer(call: Call, view: View): Promise<unknown> {
    const { method, params } = call
    if (method === 'getAgGenesisCert') return certificateOf(call)
    const config = (params[method === 'getLatestBlockhash' ? 0 : 1] ?? {}) as AccountsConfig
    const whole = await plain(call)
    if (method === 'getSignaturesForAddress' && Array.isArray(whole.result)) {
      const known = (whole.result as Listed[]).filter(({ slot }) => slot <= chain.slot() - node.indexLag)
      return { ...whole, result: known.flatMap((each) => listedAt(each, view)) }
    }
    if (whole.result?.context === undefined) return whole
    const { result } = whole
    const at = atSlot(method === 'getSignatureStatuses' ? 'processed' : config.commitment, view)
    if (method === 'getSignatureStatuses') {
      const statuses = result.value as (Status | null)[]
      result.value = statuses.map((status, i) => statusOf((params[0] as string[])[i]!, status, view))
    } else if (method === 'isBlockhashValid') {
      const slot = slotOf(params[0] as string)
      result.value = slot !== undefined && slot <= at && slot >= at - BLOCKHASH_SLOTS
    } else if (method === 'getMultipleAccounts' && config.encoding !== 'jsonParsed') {
      const shown = result.value as unknown[]
      result.value = (params[0] as string[]).map((address, i) => accountAt(address, at, config, shown[i]))
    } else if (method === 'getAccountInfo' && config.encoding !== 'jsonParsed') {
      result.value = accountAt(params[0] as string, at, config, result.value)
    } else if (method === 'simulateTransaction' && view.lag > 0) {
      if (config.accounts !== undefined && isChanged(params[0] as string, at)) return behind(call)
      if (!config.replaceRecentBlockhash) {
        result.value = simulationAt(params[0] as string, result.value as { err: unknown }, at)
      }
    } else if (method === 'getLatestBlockhash' && view.lag > 0) {
      result.value = { blockhash: chain.blockhashOf(at), lastValidBlockHeight: at + BLOCKHASH_SLOTS }
    }
    result.context.slot = at
    return whole
  }

  function certificateOf({ id }: Call) {
    const { alpenglowSlot: slot } = node
    const block = { slot, blockId: new Array(32).fill(1) }
    const certificate = { block, signature: { signature: new Array(192).fill(2), bitmap: [3] } }
    return { jsonrpc: '2.0', id, result: slot === null ? null : certificate }
  }

  /** As it was at the slot; `shown` where the account has never changed. */
  function accountAt(address: string, at: number, { dataSlice }: AccountsConfig, shown: unknown): unknown {
    const version = versions.at(address, at)
    if (version === undefined) return shown
    if (version === null) return null
    const { lamports, owner, executable, data } = version
    const { offset, length } = dataSlice ?? { offset: 0, length: data.length }
    const part = Buffer.from(data.slice(offset, offset + length)).toString('base64')
    return { lamports: Number(lamports), owner, executable, rentEpoch: 0, space: data.length, data: [part, 'base64'] }
  }

  /** The bank that a simulation should run in is not there any more: what it would show is of another state. */
  function isChanged(base64: string, at: number): boolean {
    const { keys } = decodeWireTransaction(Buffer.from(base64, 'base64')).message
    return keys.some((address) => versions.newest(address) > at)
  }

  function simulationAt(base64: string, value: { err: unknown }, at: number) {
    const raw = Buffer.from(base64, 'base64')
    const landed = chain.transaction(signatureIn(raw))
    const fine = { ...value, err: null, logs: [] }
    if (value.err === 'AlreadyProcessed' && landed !== null && landed.slot > at) return fine
    const slot = slotOf(decodeWireTransaction(raw).message.recentBlockhash)
    if (slot !== undefined && slot > at) return { ...value, err: 'BlockhashNotFound', logs: [] }
    return value.err === 'BlockhashNotFound' && slot !== undefined && slot >= at - BLOCKHASH_SLOTS ? fine : value
  }

  const node: FaultyNode = {
    decide: () => undefined,
    lag: 0,
    indexLag: 0,
    alpenglowSlot: chain.alpenglowSlot(),
    counts: new Map(),
    sent: new Map(),
    asked: new Map(),
    haunt(signature, level, slots) {
      const slot = chain.slot()
      phantoms.set(signature, { slot, until: slot + slots, level })
    },
    async fetch(_, init) {
      const call = JSON.parse(String(init?.body)) as Call
      const { method, params } = call
      const fault = node.decide(method)
      count(node.asked, method)
      if (fault !== undefined) count(node.counts, fault)
      if (fault === 'timeout') throw new DOMException(`The operation timed out: ${NODE_URL}`, 'TimeoutError')
      if (fault === 'reset') {
        throw Object.assign(new TypeError(`fetch failed: ${NODE_URL}`), { cause: { code: 'ECONNRESET' } })
      }
      if (fault === 'busy') return http(429, '{"error":"Too many requests"}')
      if (fault === 'busy, retry after') return http(429, 'slow down', { 'retry-after': '2' })
      if (fault === 'http 500') return http(500, '{"jsonrpc":"2.0","id":1}')
      if (fault === 'http 503') return http(503, 'no backend')
      if (fault === 'html') return http(200, HTML)
      if (fault === 'malformed') return http(200, malformed(call, chain.slot()))
      if (fault === 'node unhealthy') return http(200, JSON.stringify(behind(call)))
      if (method === 'sendTransaction') {
        const text = params[0] as string
        const signature = signatureIn(Buffer.from(text, 'base64'))
        count(node.sent, text)
        if (fault === 'phantom' && chain.transaction(signature) === null) node.haunt(signature, 'processed', 8)
        if (fault === 'phantom' || fault === 'dropped send') {
          return http(200, JSON.stringify({ jsonrpc: '2.0', id: call.id, result: signature }))
        }
        if (fault === 'double send') await plain(call)
      }
      if (fault === 'stale blockhash') {
        const slot = chain.slot() - STALE
        const value = { blockhash: chain.blockhashOf(slot), lastValidBlockHeight: slot + BLOCKHASH_SLOTS }
        return http(200, JSON.stringify({ jsonrpc: '2.0', id: call.id, result: { context: { slot }, value } }))
      }
      const asked = JSON.stringify([method, params])
      if (fault === 'repeated answer' && earlier.has(asked)) return http(200, earlier.get(asked)!)
      const view = { lag: fault === 'behind' ? Math.max(LAG, node.lag) : node.lag, forked: fault === 'other fork' }
      const text = JSON.stringify(await answer(call, view))
      if (fault === 'answer lost') {
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'UND_ERR_SOCKET' } })
      }
      earlier.set(asked, text)
      if (earlier.size > MOST_EARLIER) earlier.delete(earlier.keys().next().value!)
      return http(200, text)
    },
  }
  return node
}

const http = (status: number, body: string, headers: Record<string, string> = {}) =>
  new Response(body, { status, headers })

const behind = ({ id }: Call) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32005, message: `Node is behind by ${LAG} slots`, data: { numSlotsBehind: LAG } },
})

/** JSON-RPC by its envelope, with nothing useful inside: the answers of a proxy that has lost its backend. */
function malformed({ id, method }: Call, slot: number): string {
  const results = [null, {}, { context: { slot: slot + 1_000 } }, { context: { slot: slot + 1_000 }, value: [] }]
  if (method === 'sendTransaction') return '{"jsonrpc":"2.0"}'
  return JSON.stringify({ jsonrpc: '2.0', id, result: results[slot % results.length] })
}

/** Every account as it was at a slot, from the first change on. */
function versionsOf(chain: LocalChain) {
  const versions = new Map<string, { slot: number; account: ChainAccount | null }[]>()
  chain.subscribe({
    landed({ slot }, changed) {
      for (const [address, account] of changed) {
        versions.set(address, [...(versions.get(address) ?? []), { slot, account }])
      }
    },
  })
  return {
    /** Null where it was not there yet; undefined where it has never changed. */
    at(address: string, slot: number): ChainAccount | null | undefined {
      const known = versions.get(address)
      return known === undefined ? undefined : (known.findLast((version) => version.slot <= slot)?.account ?? null)
    },
    /** Slot of the last change. */
    newest: (address: string) => versions.get(address)?.at(-1)?.slot ?? Number.NEGATIVE_INFINITY,
  }
}

/** The slot of one of the last 600 blockhashes. */
function blockhashSlots(chain: LocalChain) {
  const slots = new Map<string, number>()
  let known = Number.NEGATIVE_INFINITY
  return (blockhash: string): number | undefined => {
    const tip = chain.slot()
    for (let slot = Math.max(known + 1, tip - 600); slot <= tip; slot++) slots.set(chain.blockhashOf(slot), slot)
    known = tip
    return slots.get(blockhash)
  }
}

export const count = <K>(counts: Map<K, number>, key: K) => void counts.set(key, (counts.get(key) ?? 0) + 1)

const signatureIn = (raw: Uint8Array) => decodeWireTransaction(raw).signature

/** One line of the log. */
export interface Logged {
  level: 'debug' | 'info' | 'warn' | 'error'
  fields: Record<string, unknown>
  message: string
}

/** Slots of this service's chain; the schedules of its tests count in them. */
const SLOT_MS = 400

/** The app over a faulty node's URL, with one clock for the chain and the service. No time passes but by `clock.advance`. */
export async function startFaultyService() {
  const test = await openTestChain({ settings: { ...DEFAULT_SETTINGS, slotMs: SLOT_MS, consensus: 'tower' } })
  const { chain, wall } = test
  const clock = {
    now: () => wall.ms,
    advance(milliseconds: number) {
      wall.ms += milliseconds
    },
  }
  // A chain that has been running for a while: there are old blockhashes, and slots for a node to be behind by.
  clock.advance(120_000)
  const node = createFaultyNode(chain)
  vi.stubGlobal('fetch', node.fetch)
  const dataDir = temporaryFolder()
  const logged: Logged[] = []
  const to = (level: Logged['level']) => (fields: object, message: string) =>
    void logged.push({ level, fields: fields as Logged['fields'], message })
  const log: Log = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  const flags = { 'data-dir': dataDir, url: NODE_URL, ...(await databaseSettings(dataDir)) }
  const config = loadConfig({ flags, env: {}, cwd: dataDir })
  const opened = await openServices(config, log)
  const wait = async (milliseconds: number) => clock.advance(milliseconds)
  const services = { ...opened, clock, chain: openChain(config, { log, wait, elapsed: clock.now }) }
  const app = await createApp(services)
  const request = requester(ORIGIN, app.fetch, await operatorKey(services))
  onTestFinished(async () => {
    vi.unstubAllGlobals()
    await app.close()
    await services.close()
  })
  return { ...test, node, clock, services, request, logged }
}

export type FaultyService = Awaited<ReturnType<typeof startFaultyService>>
