/** Record updates shared by NFTs and stakes: each record belongs to one asset and never moves back in time. */
import type { NewRow } from '../schema.ts'
import type { Tx } from '../store.ts'

/** Position of a change on chain; `order` 0 is a state that was read at a slot. */
export interface AssetPlace {
  slot: number
  order: number
}

export const isBefore = (one: AssetPlace, other: AssetPlace): boolean =>
  one.slot < other.slot || (one.slot === other.slot && one.order < other.order)

/**
 * Updates the record of an asset unless it is burned, which is final, or already has a later position. A state read at
 * a slot counts as earlier than the transactions of that slot. Returns whether it updated the record.
 */
export function moving<T extends 'nfts' | 'stakes'>(table: T) {
  return async (
    tx: Tx,
    asset: string,
    { slot, order }: AssetPlace,
    changes: Partial<Omit<NewRow<T>, 'asset' | 'changed_slot' | 'changed_order'>>,
  ): Promise<boolean> => {
    // Both tables have these columns; the cast is needed because Kysely cannot type a table given as a type parameter.
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
