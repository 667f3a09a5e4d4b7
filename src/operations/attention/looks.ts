/** Looks at the service itself, and stores what holds now for the list of what needs a person. */
import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import type { AttentionKind } from '../../api/attention-kinds.ts'
import type { Services } from '../../context.ts'
import { isStored, type Observation, storeLook } from '../../store/attention/looks.ts'

export type LookServices = Pick<
  Services,
  'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'signer' | 'ending'
>

/** One look: the kinds that it decides about, and what holds of them now. Null if the node does not answer. */
export interface LookAt<C extends LookServices = LookServices> {
  kinds: readonly AttentionKind[]
  look(context: C): Promise<Observation[] | null>
}

/**
 * Takes each look and stores it. If one fails or its node does not answer, what it has stored before stays. `observer`
 * is the process, for what belongs to one.
 */
export async function takeLooks<C extends LookServices>(
  context: C,
  looks: readonly LookAt<C>[],
  { observer, signal }: { observer: string | null; signal: AbortSignal },
): Promise<void> {
  const { store, clock, log } = context
  for (const { kinds, look } of looks) {
    signal.throwIfAborted()
    try {
      const held = await look(context)
      if (held === null) continue
      const seen = { kinds, observer, held, now: clock.now() }
      const isUnseen = await isStored(store.db, seen)
      // A process writes what it sees each time, which also shows others that it still runs.
      if (isUnseen && (observer === null || seen.held.length === 0)) continue
      await store.write((tx) => storeLook(tx, seen), { isUnseen })
    } catch (error) {
      if (signal.aborted) throw error
      log.warn({ err: error, kinds }, 'what needs a person could not be looked at')
    }
  }
}

/** The host and the data folder of this process, as part of an id. A restart does not change it. */
export function processName({ dataDir }: Services['config']): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 40) || 'host'
  return `${host}-${hash('sha256', dataDir, 'hex').slice(0, 6)}`
}
