/** Decides from which slot on followed accounts are looked at. */
import { askNode } from '../../chain/rpc-faults.ts'
import { findSetting, settleSetting } from '../../store/settings.ts'
import type { FollowingServices } from '../services.ts'

/** The migration stores it as `now` in a database that has followed transactions before. */
const BEGINNING = 'reconciliation_from'

/**
 * Returns 0 for an installation that was new when it began, so that all history counts. An earlier one begins at the
 * slot of its first round, because what happened before was told or left out under its old rules.
 */
export async function firstSlot({ store, chain }: FollowingServices, genesis: string): Promise<number> {
  const name = `${BEGINNING}:${genesis}`
  const known = await findSetting(store.db, name)
  if (known !== null) return Number(known)
  if ((await findSetting(store.db, BEGINNING)) === null) return 0
  const slot = await askNode('Reading the slot', () => chain.call<unknown>('getSlot', [{ commitment: 'confirmed' }]))
  return Number(await store.write((tx) => settleSetting(tx, name, String(Number(slot)))))
}
