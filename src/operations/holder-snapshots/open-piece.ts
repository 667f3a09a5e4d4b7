/** Opens a stored piece of a snapshot's holders. */
import type { Context } from '../../context.ts'
import { type HolderRows, holderRows } from '../../merkle/allocation/holder-rows.ts'
import { notFound } from '../../platform/errors.ts'
import { readHolderPiece } from '../../store/resources/holder-snapshots.ts'

/** Throws not_found if the snapshot has fewer pieces or was removed. */
export async function openHolderPiece({ store }: Pick<Context, 'store'>, id: string, n: number): Promise<HolderRows> {
  const bytes = await readHolderPiece(store.db, id, n)
  if (bytes === null) throw notFound(`The holder snapshot ${id} has no piece ${n}`)
  return holderRows(bytes)
}
