/** Checks that this process can work: the database accepts writes, the chain answers and the workers make progress. */

import type { DaemonRole } from '../src/api/daemon-roles.ts'
import type { EndpointState } from '../src/chain/nodes/endpoint.ts'
import { withTimeout } from '../src/platform/timing.ts'
import type { Consensus } from '../src/solana/constants.ts'
import { databaseFault, FAULT_MESSAGES } from '../src/store/faults.ts'
import { probeWrite } from '../src/store/settings.ts'
import type { Kernel } from './kernel.ts'

type ReadinessPart = 'database' | 'rpc' | 'workers'

export interface Readiness {
  ready: boolean
  /** Role of this daemon; absent if a command answers without a daemon. */
  role?: DaemonRole
  /** A daemon with the role `api` has no workers to check. */
  checks: Partial<Record<ReadinessPart, 'ok' | 'failing'>>
  /** Consensus of the cluster; absent until a node has reported it. */
  consensus?: Consensus
  /** Why this process is not ready, by check, without file names and URLs; absent if it is ready. */
  reasons?: Partial<Record<ReadinessPart | 'shutdown', string>>
  /** Whether the last look at the signer reached its key; absent without a signer. It does not change `ready`. */
  signer?: SignerState
  /** What fails although this process is ready, because programs of the cluster have changed, or the signer fails. */
  degraded?: readonly string[]
}

export interface SignerState {
  provider: string
  state: 'unchecked' | 'ok' | 'failing'
}

type ReadyKernel = Pick<
  Kernel,
  'store' | 'chain' | 'config' | 'signer' | 'programs' | 'log' | 'workers' | 'ending' | 'stopping' | 'role'
>

export interface ReadinessQuestion {
  /** For proxies: if only the node is down, and workers fail because of it, all other requests must stay available. */
  withoutNode?: boolean
}

/** Checks database and chain at most once a second, however often readiness is requested. */
export function readiness(kernel: ReadyKernel): (question?: ReadinessQuestion) => Promise<Readiness> {
  // If requests use every connection, the database must not look unreachable.
  const probed = { ...kernel, store: kernel.store.reserved?.readiness ?? kernel.store }
  const [database, rpc] = [throttled(() => storeFault(probed)), throttled(() => rpcFault(kernel))]
  const signer = signerProbe(kernel)
  const { role } = kernel
  return async ({ withoutNode = false } = {}) => {
    const [databaseReason, rpcReason] = await Promise.all([database(), withoutNode ? null : rpc()])
    const faults: Partial<Record<ReadinessPart, string | null>> = {
      database: databaseReason,
      ...(withoutNode ? {} : { rpc: rpcReason }),
      ...(withoutNode || role === 'api' ? {} : { workers: workersFault(kernel) }),
    }
    const parts = Object.entries(faults) as [ReadinessPart, string | null][]
    const failing: [ReadinessPart | 'shutdown', string][] = parts.flatMap(([part, reason]) =>
      reason === null ? [] : [[part, reason]],
    )
    if (kernel.stopping.aborted) failing.push(['shutdown', 'the daemon is stopping and takes no new work'])
    const { consensus } = kernel.chain.consensus.known()
    // A database that cannot be read is reported above.
    const programs = await kernel.programs.degradations().catch(() => [])
    const signing = signer()
    const degraded = signing?.state === 'failing' ? [...programs, SIGNER_FAILS] : programs
    const checks = Object.fromEntries(parts.map(([part, reason]) => [part, reason === null ? 'ok' : 'failing']))
    return {
      ready: failing.length === 0,
      ...(role === null ? {} : { role }),
      checks: checks as Readiness['checks'],
      ...(consensus === null ? {} : { consensus }),
      ...(failing.length === 0 ? {} : { reasons: Object.fromEntries(failing) }),
      ...(signing === null ? {} : { signer: signing }),
      ...(degraded.length === 0 ? {} : { degraded }),
    }
  }
}

const PROBE_INTERVAL_MS = 1_000
/** Milliseconds after which the database counts as failing; a healthy one commits a write much sooner. */
const READINESS_TIMEOUT_MS = 5_000

/**
 * Why the database fails. Checks a read, a write that changes nothing, and the last fault of an earlier statement.
 */
async function storeFault({ store, log, ending }: ReadyKernel): Promise<string | null> {
  try {
    await withTimeout(READINESS_TIMEOUT_MS, ending, async () => {
      await store.ping()
      await store.write(probeWrite)
    })
  } catch (error) {
    log.error({ err: error }, 'the database does not answer or accepts no write')
    const fault = store.fault() ?? databaseFault(error)
    return fault === null ? 'the database does not answer, or accepts no write in time' : FAULT_MESSAGES[fault]
  }
  const fault = store.fault()
  return fault === null ? null : FAULT_MESSAGES[fault]
}

async function rpcFault({ chain, log }: ReadyKernel): Promise<string | null> {
  try {
    await chain.ping()
    // A later answer shows it, because no readiness waits for it. An embedded chain opens at its first use.
    if (chain.cluster.kind !== 'embedded') void chain.consensus.read()
    return null
  } catch (error) {
    log.error({ err: error, cluster: chain.cluster.label }, 'the chain does not answer')
    return `the chain does not answer${endpointStates(chain)}`
  }
}

/** The state of each of several RPC endpoints by its position in the setting, because hosts are private. */
function endpointStates({ endpointReports }: ReadyKernel['chain']): string {
  const states = endpointReports().map(({ state }, i) => `endpoint ${i + 1} ${STATE_WORDS[state]}`)
  return states.length === 0 ? '' : ` (${states.join(', ')})`
}

const STATE_WORDS: Record<EndpointState, string> = {
  unchecked: 'was not reached yet',
  ok: 'answered before',
  behind: 'is behind the others',
  paused: 'asked for a pause',
  down: 'is down',
  'wrong-chain': 'belongs to another chain',
}

/** Names the workers of this process that have stalled. */
function workersFault({ workers }: ReadyKernel): string | null {
  const names = workers()
    .filter(({ stalled_reason }) => stalled_reason !== null)
    .map(({ name }) => name)
  return names.length === 0 ? null : `no progress of ${names.join(', ')}: GET /v2/health/workers says why`
}

const SIGNER_FAILS = 'signing: the signer refuses or cannot be reached; `svc signer status` says why'
/** Milliseconds between two looks at a signer, and after one that failed. */
const SIGNER_LOOK_MS = 60_000
const SIGNER_RETRY_MS = 10_000

/** The state of the signer as of the last look. A look runs in the background, because a provider may be slow. */
function signerProbe({ config, signer, log }: ReadyKernel): () => SignerState | null {
  const provider = config.values.signer
  let state: SignerState['state'] = 'unchecked'
  let [dueAt, isLooking] = [0, false]
  const look = async () => {
    isLooking = true
    try {
      await (await signer())?.check()
      state = 'ok'
    } catch (error) {
      if (state !== 'failing') log.error({ err: error, provider }, 'the signer refuses or cannot be reached')
      state = 'failing'
    }
    isLooking = false
    dueAt = performance.now() + (state === 'ok' ? SIGNER_LOOK_MS : SIGNER_RETRY_MS)
  }
  return () => {
    if (provider === 'none') return null
    if (!isLooking && performance.now() >= dueAt) void look()
    return { provider, state }
  }
}

function throttled<T>(probe: () => Promise<T>): () => Promise<T> {
  let latest: { at: number; answer: Promise<T> } | undefined
  return () => {
    const now = performance.now()
    if (latest === undefined || now - latest.at >= PROBE_INTERVAL_MS) latest = { at: now, answer: probe() }
    return latest.answer
  }
}
