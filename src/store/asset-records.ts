/** What NFTs and stakes share: each record is of one asset, and moves forward only. */
import type { NewRow } from './schema.ts'
import type { Tx } from './store.ts'

/** Where on the chain a change stands; `order` 0 is the state that was read at a slot. */
export interface AssetPlace {
  slot: number
  order: number
}

export const isBefore = (one: AssetPlace, other: AssetPlace): boolean =>
  one.slot < other.slot || (one.slot === other.slot && one.order < other.order)

/**
 * Changes the record of an asset, unless it is burned, which is for good, or shows a later place already; what is read at
 * a slot gives way to the transactions of that slot. Answers whether it did.
 */
export function moving<T extends 'nfts' | 'stakes'>(table: T) {
  return async (
    tx: Tx,
    asset: string,
    { slot, order }: AssetPlace,
    changes: Partial<Omit<NewRow<T>, 'asset' | 'changed_slot' | 'changed_order'>>,
  ): Promise<boolean> => {
    // Both tables have these columns; Kysely cannot follow one that is a type parameter.
    const rows = tx.updateTable(table as 'nfts')
    const { numUpdatedRows } = await rows
      .set({ ...(changes as Partial<NewRow<'nfts'>>), changed_slot: slot, changed_order: order })
      .where('asset', '=', asset)
      .where('status', '!=', 'burned')
      .where((is) =>
        is.or([
          is('changed_slot', '<', slot),
          is.and([is('changed_slot', '=', slot), is('changed_order', '<=', order)]),
        ]),
      )
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }
}
