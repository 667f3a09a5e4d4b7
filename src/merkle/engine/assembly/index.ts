/** The functions of the engine, as `src/merkle/engine/module.ts` calls them. */
import { prepareKeys } from './base58'
import { prepareClosing } from './sha256'

export { distinct, keepDistinct, startDuplicates, totalHigh, totalLow, zeroAmounts } from './duplicates'
export { comments, configure, count, hashKeys, position, readRows } from './rows'
export { hashLeaves, hashPairs } from './tree'

/** The first byte that is the host's. */
export function heapBase(): usize {
  return __heap_base
}

/** Fills the tables; once for each instance. */
export function prepare(): void {
  prepareKeys()
  prepareClosing()
}
