/** Opens the chain of this process on first use, for any cluster. */
import type { LocalRpc } from '../localnet/rpc/index.ts'
import type { LocalChain } from '../localnet/types.ts'
import { type ApiError, badRequest, internal } from '../platform/errors.ts'
import { type Log, silentLog } from '../platform/log.ts'
import { observeCall } from '../platform/telemetry/calls.ts'
import { rpcMethodOf, rpcOutcome } from '../platform/telemetry/json-rpc.ts'
import { pause, rejectLate, ShuttingDown } from '../platform/timing.ts'
import { type Cluster, clusterOf } from '../settings/cluster.ts'
import type { Config } from '../settings/config.ts'
import { redactorOf } from '../settings/redaction.ts'
import type { Consensus } from '../solana/constants.ts'
import { configuredNodes, type NodeAccess } from './nodes/configured-nodes.ts'
import { type ClusterConsensus, createConsensus } from './nodes/consensus.ts'
import type { EndpointReport } from './nodes/endpoint.ts'
import { callLarge, type LargeCall } from './nodes/large-answer.ts'
import { callNode, type NodeCalls, type PostToNode } from './nodes/node-call.ts'
import { nodeLine } from './nodes/node-line.ts'
import type { OnSignature } from './nodes/node-socket.ts'
import { type NodeTiming, nodeTiming } from './nodes/retry.ts'
import { askNode } from './nodes/rpc-faults.ts'
import { chainOwner } from './owner.ts'
import type { ProgramLookup } from './programs/required-program.ts'
import { accountsAtSlot } from './reads/node-reads.ts'

export interface Endpoint {
  rpcUrl: string
  wsUrl: string
}

/** Its calls go to the cluster's nodes. The embedded chain answers in this process, or in the one that owns it. */
export interface Chain extends ProgramLookup, NodeCalls {
  readonly cluster: Cluster
  /** Whether there are several endpoints. One of them alone cannot prove that something is absent. */
  readonly hasSeveralEndpoints: boolean
  /**
   * Whether a reading of `witnesses` proves that something is absent: two endpoints make it, or the embedded chain,
   * which keeps its own history. The word of one node of a cluster proves nothing.
   */
  readonly provesAbsence: boolean
  /** Aborted when the process ends. */
  readonly ending: AbortSignal | undefined
  /**
   * Address at which clients of this process's API can reach the chain, or null for an embedded chain that is not
   * served.
   */
  endpoint(): Endpoint | null
  /** Records where this process serves the embedded chain. Null withdraws the record. */
  servedAt(endpoint: Endpoint | null): void
  /**
   * Makes one JSON-RPC call whose answer may be of any size: each item of its `result.value` is handed over as it
   * comes, and the result without its items is returned. The call is not repeated. Throws like `callLarge`.
   */
  callLarge(call: LargeCall, onItem: (item: unknown) => void): Promise<unknown>
  /**
   * Runs a reading that may show that something is absent or over, with all of its calls at one node. With several
   * endpoints, two that are not behind make it, and it counts only if both answer. Otherwise it proves nothing.
   */
  witnesses<T>(read: (node: NodeCalls) => Promise<T>): Promise<T[]>
  /** Health of each endpoint as known now; empty if there is only one, or none was used yet. */
  endpointReports(): EndpointReport[]
  /**
   * Calls `act` once, when the WebSocket of a node reports the signature as confirmed, until the returned function is
   * called. Not every node has a WebSocket, so the caller polls as well. Absent if such a wait gains nothing.
   */
  readonly onSignature: OnSignature | undefined
  /** Which consensus the cluster has. */
  readonly consensus: Pick<ClusterConsensus, 'known' | 'read' | 'votes'>
  /**
   * Genesis hash in base58, which identifies the chain whatever URL reaches it. It is read once per node. Throws
   * internal_error.
   */
  genesisHash(): Promise<string>
  /** Whether this is an embedded chain that no process has opened yet. */
  isUnused(): boolean
  /** Returns the embedded chain. Throws internal_error on another cluster, and when another process owns it. */
  local(): Promise<LocalChain>
  /** Returns JSON-RPC over the embedded chain. Throws like `local`. */
  rpc(): Promise<LocalRpc>
  /** Rejects when the chain does not answer or has stopped. It does not open an embedded chain that is still unused. */
  ping(): Promise<void>
  close(): Promise<void>
}

const PING_TIMEOUT_MS = 3_000
const CHAIN_LOCK_TIMEOUT_MS = 3_000
const LOCK_RETRY_MS = 50
/** Milliseconds for which a program that the node has shown is assumed to exist. */
const PROGRAM_SEEN_MS = 60_000

export interface OpenChainOptions extends Partial<NodeTiming> {
  log?: Log
  /** Time to wait until another process releases the embedded chain, in milliseconds. */
  lockTimeoutMs?: number
  /** Wraps every request to the chain. Tests use it to inject faults. */
  around?: (send: typeof fetch) => typeof fetch
}

/** Opens nothing yet. A failure to open is reported to its caller, and the next caller tries again. */
export function openChain(config: Config, options: OpenChainOptions = {}): Chain {
  const { log = silentLog, lockTimeoutMs = CHAIN_LOCK_TIMEOUT_MS, around = (send) => send } = options
  const timing = nodeTiming(options)
  const { elapsed, ending } = timing
  const cluster = clusterOf(config)
  const onError = (error: unknown, method: string) => log.error({ err: error, method }, 'the embedded chain failed')
  let opened: Promise<LocalChain> | undefined
  let served: Promise<LocalRpc> | undefined
  let inProcess: Promise<NodeAccess> | undefined
  let ownEndpoint: Endpoint | null = null
  const hashes = new WeakMap<NodeAccess, string>()
  /** When a node last showed a program, by its address. */
  const programsSeen = new WeakMap<NodeAccess, Map<string, number>>()

  const owner = () => (cluster.kind === 'embedded' && opened === undefined ? chainOwner(config.dataDir) : undefined)

  const local = (): Promise<LocalChain> => {
    if (cluster.kind !== 'embedded') return Promise.reject(internal(`${cluster.label} is not the embedded chain`))
    const other = owner()
    if (other !== undefined) return Promise.reject(embeddedInUse(config.dataDir, other.pid))
    opened ??= openEmbedded(config, lockTimeoutMs).catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }

  const rpc = (): Promise<LocalRpc> => {
    served ??= local()
      .then(async (chain) => (await import('../localnet/rpc/index.ts')).createRpc(chain, { onError }))
      .catch((error) => {
        served = undefined
        throw error
      })
    return served
  }

  const commitment = () => (consensus.known().consensus === 'alpenglow' ? 'finalized' : 'confirmed')
  const nodes = configuredNodes(config, cluster, { around: options.around, log, commitment, ...timing })
  const hasSeveralEndpoints = nodes.pool !== undefined

  const nodeEndpoint = async (): Promise<NodeAccess> => {
    if (nodes.access !== undefined) return nodes.access()
    const other = owner()
    if (other !== undefined) return nodes.at(other.rpc_url)
    inProcess ??= rpc()
      .then(async (local) => {
        const { localFetch } = await import('../localnet/fetch.ts')
        const overFetch = { url: cluster.rpcUrl, label: 'embedded', fetch: around(localFetch(local)) }
        const { post, stream } = nodeLine(overFetch, redactorOf(config))
        // Unwrapped calls need no Request and Response objects.
        const direct = postToEmbedded((body) => local.handle(body), ending)
        return { post: options.around === undefined ? direct : (body: string) => post(body), stream }
      })
      .catch((error) => {
        inProcess = undefined
        throw error
      })
    return inProcess
  }

  const askOnce = async <T>(method: string, params: readonly unknown[]) => {
    const { post } = await nodeEndpoint()
    return (await callNode(post, method, params)) as T
  }
  const consensus = createConsensus(async () => (await nodes.pool?.())?.each() ?? [{ call: askOnce }], elapsed)
  /** The same calls in the terms of the cluster's consensus. */
  const inTerms = (node: NodeCalls): NodeCalls => ({
    call: (method, params) => consensus.inTerms(params, (own) => node.call(method, own)),
  })
  const { call } = inTerms({ call: askOnce })

  return {
    cluster,
    hasSeveralEndpoints,
    provesAbsence: hasSeveralEndpoints || cluster.kind === 'embedded',
    ending,
    endpoint() {
      if (cluster.kind !== 'embedded') return { rpcUrl: cluster.rpcUrl, wsUrl: cluster.wsUrl }
      if (ownEndpoint !== null) return ownEndpoint
      const other = owner()
      return other === undefined ? null : { rpcUrl: other.rpc_url, wsUrl: other.ws_url }
    },
    servedAt(endpoint) {
      ownEndpoint = endpoint
    },
    call,
    async callLarge(call, onItem) {
      const { stream } = await nodeEndpoint()
      const answers = { stream, redact: redactorOf(config).json, ending }
      return consensus.inTerms(call.params, (params) => callLarge(answers, { ...call, params }, onItem))
    },
    async witnesses(read) {
      const pool = await nodes.pool?.()
      return pool === undefined ? [await read({ call })] : pool.witnesses((node) => read(inTerms(node)))
    },
    endpointReports: nodes.reports,
    consensus,
    onSignature: nodes.onSignature,
    async genesisHash() {
      const node = await nodeEndpoint()
      const existing = hashes.get(node)
      if (existing !== undefined) return existing
      const hash = await askNode('Reading the genesis hash', async () => {
        const answer = await callNode(node.post, 'getGenesisHash', [])
        if (typeof answer !== 'string' || answer === '') throw new Error('its answer is incomplete')
        return answer
      })
      hashes.set(node, hash)
      return hash
    },
    isUnused: () => cluster.kind === 'embedded' && opened === undefined && owner() === undefined,
    local,
    rpc,
    async hasProgram(id) {
      const node = await nodeEndpoint()
      const seen = programsSeen.get(node) ?? new Map<string, number>()
      programsSeen.set(node, seen)
      const seenAt = seen.get(id)
      if (seenAt !== undefined && elapsed() - seenAt < PROGRAM_SEEN_MS) return true
      const { accounts } = await askNode('Looking for a program', () => accountsAtSlot({ call }, [id]))
      const [account] = accounts
      if (!account?.executable) return false
      seen.set(id, elapsed())
      return true
    },
    async ping() {
      if (cluster.kind === 'embedded' && owner() === undefined) {
        if (opened !== undefined) (await opened).latestBlockhash()
        return
      }
      await withPingTimeout(call('getSlot', [{ commitment: 'processed' }]), cluster.label)
    },
    async close() {
      nodes.close()
      const chain = await opened?.catch(() => undefined)
      opened = undefined
      served = undefined
      inProcess = undefined
      chain?.close()
    },
  }
}

/** Posts to the embedded chain in this process as an observed call. Throws ShuttingDown once `ending` is aborted. */
function postToEmbedded(
  handle: (body: string) => Promise<string | undefined>,
  ending: AbortSignal | undefined,
): PostToNode {
  return (body) =>
    observeCall(
      { service: 'rpc', endpoint: 'embedded', operation: rpcMethodOf(body) },
      async () => {
        if (ending?.aborted) throw new ShuttingDown('the service is shutting down')
        return { status: 200, text: (await handle(body)) ?? '' }
      },
      ({ status }) => rpcOutcome(status, ''),
    )
}

/**
 * Commands that open the chain in their own process run one after another. A daemon that owns it is named in the owner
 * file.
 */
async function openEmbedded({ dataDir, programsDir, values }: Config, timeoutMs: number): Promise<LocalChain> {
  const { openLocalChain } = await import('../localnet/index.ts')
  for (const until = Date.now() + timeoutMs; ; ) {
    try {
      return await openLocalChain({ dataDir, programsDir, consensus: values.consensus as Consensus | undefined })
    } catch (error) {
      if (error instanceof Error && error.name === 'ConsensusKeptError') throw badRequest(error.message)
      if (!(error instanceof Error) || error.name !== 'ChainLockedError') throw error
      if (Date.now() >= until) throw internal(error.message, { cause: error })
    }
    await pause(LOCK_RETRY_MS)
  }
}

function embeddedInUse(dataDir: string, pid: number): ApiError {
  return internal(
    `The embedded chain of ${dataDir} is in use by process ${pid}: stop it, or choose another data folder`,
  )
}

const withPingTimeout = (answer: Promise<unknown>, label: string) =>
  rejectLate(PING_TIMEOUT_MS, answer, () => internal(`The RPC node of ${label} does not answer`))
