/** Whether the nodes of the cluster answer, are not behind, and agree on the chain and its consensus. */
import type { EndpointReport } from '../../chain/nodes/endpoint.ts'
import type { Services } from '../../context.ts'
import { printableLine } from '../../platform/printable.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import type { Observation } from '../../store/attention/looks.ts'
import { findSetting, storeSetting } from '../../store/settings.ts'
import type { LookAt, LookServices } from './looks.ts'

/** The newest block of a cluster at work is a few seconds old. */
const OLDEST_BLOCK_MS = 90 * SECOND_MS
/** Endpoints seldom change their consensus. */
const VOTES_EVERY_MS = 5 * MINUTE_MS
const LONGEST_ERROR = 160

/** What one process remembers from look to look. */
interface Memory {
  /** When something was first seen that the last look saw, too. */
  seen: Map<string, number>
  votedAt: number
  disagreeing: Observation[]
}
const memories = new WeakMap<Services['store'], Memory>()

export const nodeLook: LookAt = {
  kinds: ['node_behind', 'node_unreachable', 'other_consensus'],
  async look(context) {
    const { chain, store, clock } = context
    if (chain.cluster.kind === 'embedded') return []
    const memory = memories.get(store) ?? { seen: new Map(), votedAt: Number.NEGATIVE_INFINITY, disagreeing: [] }
    memories.set(store, memory)
    const now = clock.now()
    // The calls also bring what is known of each endpoint up to date.
    const ofCluster = await clusterState(context, now)
    const found = [...chain.endpointReports().flatMap(endpointState), ...ofCluster]
    if (Math.abs(now - memory.votedAt) >= VOTES_EVERY_MS && ofCluster.length === 0) {
      memory.votedAt = now
      memory.disagreeing = (await consensusState(context)) ?? memory.disagreeing
    }
    return [...lasting(memory.seen, found, now), ...memory.disagreeing]
  },
}

/** A node that fails for a moment needs nobody: what two looks in a row have seen is reported. */
function lasting(seen: Map<string, number>, found: readonly Observation[], now: number): Observation[] {
  const before = new Map(seen)
  seen.clear()
  return found.flatMap((each) => {
    const key = `${each.kind} ${each.subject}`
    const since = before.get(key)
    seen.set(key, since ?? now)
    return since === undefined ? [] : [{ ...each, since }]
  })
}

/** Of one endpoint of several, by its place in the setting. */
function endpointState({ endpoint, state, slotLag, genesis, lastError }: EndpointReport): Observation[] {
  const subject = `endpoint-${endpoint.slice(endpoint.lastIndexOf('#') + 1)}`
  if (state === 'behind') return [{ kind: 'node_behind', subject, facts: { endpoint, slots: slotLag } }]
  if (state === 'down') return [unreachable(subject, endpoint, lastError)]
  if (state === 'wrong-chain') return [{ kind: 'other_consensus', subject, facts: { endpoint, genesis } }]
  return []
}

const unreachable = (subject: string, endpoint: string, error: string | null): Observation => ({
  kind: 'node_unreachable',
  subject,
  facts: { endpoint, error: error === null ? null : printableLine(error, LONGEST_ERROR) },
})

/** Whether any node answers, and how old the newest block is that it shows. */
async function clusterState({ chain }: LookServices, now: number): Promise<Observation[]> {
  const { label } = chain.cluster
  let at: number | null
  try {
    const slot = await chain.call<number>('getSlot', [{ commitment: 'confirmed' }])
    at = await chain.call<number | null>('getBlockTime', [slot]).catch(() => null)
  } catch (error) {
    return [unreachable('cluster', label, error instanceof Error ? error.message : String(error))]
  }
  if (!Number.isSafeInteger(at) || at === null || now - at * SECOND_MS <= OLDEST_BLOCK_MS) return []
  const seconds = Math.round(now / SECOND_MS - at)
  return [{ kind: 'node_behind', subject: 'cluster', facts: { endpoint: label, seconds } }]
}

/** The consensus that was known last, in the database's settings: no cluster goes back to an earlier one. */
const KNOWN_CONSENSUS = 'attention-consensus'

/** Null if no node says which chain it is. */
async function consensusState({ chain, store }: LookServices): Promise<Observation[] | null> {
  const { alpenglow, tower } = await chain.consensus.votes()
  if (alpenglow + tower === 0) return []
  const genesis = await chain.genesisHash().catch(() => null)
  if (genesis === null) return null
  const known = await findSetting(store.db, KNOWN_CONSENSUS)
  if (alpenglow > 0 && tower === 0 && known !== genesis) {
    await store.write((tx) => storeSetting(tx, KNOWN_CONSENSUS, genesis), { isUnseen: true })
  }
  const isBack = alpenglow === 0 && known === genesis
  if (!isBack && (alpenglow === 0 || tower === 0)) return []
  return [{ kind: 'other_consensus', subject: 'cluster', facts: { endpoint: chain.cluster.label, alpenglow, tower } }]
}
