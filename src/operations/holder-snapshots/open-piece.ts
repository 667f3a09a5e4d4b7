/** Opens a stored piece of a snapshot's holders. */
import { type HolderRows, holderRows } from '../../allocation/holder-rows.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { readHolderPiece } from '../../store/resources/holder-snapshots.ts'

/** Throws not_found without the piece: the snapshot has fewer, or was removed. */
export async function openHolderPiece({ store }: Pick<Context, 'store'>, id: string, n: number): Promise<HolderRows> {
  const bytes = await readHolderPiece(store.db, id, n)
  if (bytes === null) throw notFound(`The holder snapshot ${id} has no piece ${n}`)
  return holderRows(bytes)
}
