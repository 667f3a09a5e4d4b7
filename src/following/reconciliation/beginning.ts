/** Determines the slot from which followed accounts are checked. */
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import { firstEventAt } from '../../store/events/chain-events.ts'
import { findSetting, settleSetting } from '../../store/settings.ts'
import type { FollowingServices } from '../services.ts'

/** Shorter than any slot, so that the slot computed from a time is never too late. */
const LEAST_SLOT_MS = 100

/**
 * Returns the slot of the first round or of the first event, whichever is earlier. Before it there was no record that
 * a transaction could change. On a younger chain it is not before the first block, because no node has older history.
 */
export async function firstSlot({ store, chain, clock }: FollowingServices, genesis: string): Promise<number> {
  // The whole history of an embedded chain belongs to this installation.
  if (chain.cluster.kind === 'embedded') return readFirstBlock(chain)
  const name = `reconciliation_from:${genesis}`
  const known = await findSetting(store.db, name)
  if (known !== null) return Number(known)
  const slot = await askNode('Reading the slot', async () => {
    const answer = await chain.call<unknown>('getSlot', [{ commitment: 'confirmed' }])
    if (!Number.isSafeInteger(answer)) throw new Error('its answer is incomplete')
    return answer as number
  })
  const first = await readFirstBlock(chain)
  const firstAt = await firstEventAt(store.db)
  const slots = firstAt === null ? 0 : Math.ceil(Math.max(0, clock.now() - firstAt) / LEAST_SLOT_MS)
  return Number(await store.write((tx) => settleSetting(tx, name, String(Math.max(first, slot - slots)))))
}
