/** Whether this process can do its work: a database that takes writes, a chain that answers, workers that get on. */

import { databaseFault, FAULT_WORDS } from '../src/store/faults.ts'
import { probeWrite } from '../src/store/settings.ts'
import { withTimeout } from '../src/timing.ts'
import type { Kernel } from './kernel.ts'

type ReadinessPart = 'database' | 'rpc' | 'workers'

export interface Readiness {
  ready: boolean
  checks: Record<ReadinessPart, 'ok' | 'failing'>
  /** Why a check fails, in words that name no file and no URL; absent where all is well. */
  reasons?: Partial<Record<ReadinessPart, string>>
}

type ReadyKernel = Pick<Kernel, 'store' | 'chain' | 'log' | 'workers' | 'ending'>

/** Asks database and chain at most once a second, however many ask for it. */
export function readiness(kernel: ReadyKernel): () => Promise<Readiness> {
  const [database, rpc] = [seldom(() => storeFault(kernel)), seldom(() => rpcFault(kernel))]
  return async () => {
    const [ofDatabase, ofRpc] = await Promise.all([database(), rpc()])
    const faults: Record<ReadinessPart, string | null> = {
      database: ofDatabase,
      rpc: ofRpc,
      workers: workersFault(kernel),
    }
    const parts = Object.entries(faults) as [ReadinessPart, string | null][]
    const failing = parts.flatMap(([part, reason]) => (reason === null ? [] : [[part, reason] as const]))
    const checks = Object.fromEntries(parts.map(([part, reason]) => [part, reason === null ? 'ok' : 'failing']))
    return {
      ready: failing.length === 0,
      checks: checks as Readiness['checks'],
      ...(failing.length === 0 ? {} : { reasons: Object.fromEntries(failing) }),
    }
  }
}

const ASK_AGAIN_MS = 1_000
/** A write that waits longer than this waits for something that is wrong. */
const READINESS_TIMEOUT_MS = 5_000

/** A read, a write that leaves nothing, and what every statement before has met. */
async function storeFault({ store, log, ending }: ReadyKernel): Promise<string | null> {
  try {
    await withTimeout(READINESS_TIMEOUT_MS, ending, async () => {
      await store.ping()
      await store.write(probeWrite)
    })
  } catch (error) {
    log.error({ err: error }, 'the database does not answer or takes no write')
    const fault = store.fault() ?? databaseFault(error)
    return fault === null ? 'the database does not answer, or takes no write in time' : FAULT_WORDS[fault]
  }
  const fault = store.fault()
  return fault === null ? null : FAULT_WORDS[fault]
}

async function rpcFault({ chain, log }: ReadyKernel): Promise<string | null> {
  try {
    await chain.ping()
    return null
  } catch (error) {
    log.error({ err: error, cluster: chain.cluster.label }, 'the chain does not answer')
    return 'the chain does not answer'
  }
}

/** Workers that were started here and of which nothing comes. */
function workersFault({ workers }: ReadyKernel): string | null {
  const names = workers()
    .filter(({ stalled_reason }) => stalled_reason !== null)
    .map(({ name }) => name)
  return names.length === 0 ? null : `nothing comes of ${names.join(', ')}: GET /v2/health/workers says why`
}

function seldom<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: { at: number; answer: Promise<T> } | undefined
  return () => {
    const now = performance.now()
    if (asked === undefined || now - asked.at >= ASK_AGAIN_MS) asked = { at: now, answer: ask() }
    return asked.answer
  }
}
