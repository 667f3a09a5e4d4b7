/** Returns one piece of a snapshot's packed holders. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { openHolderPiece } from './open-piece.ts'

type GetHolderPieceRoute = Api['holderSnapshots']['piece']

export async function getHolderPiece(
  { store }: Pick<Context, 'store'>,
  { id, n }: Input<GetHolderPieceRoute>,
): Promise<Result<GetHolderPieceRoute>> {
  const { count, bytes } = await openHolderPiece({ store }, id, n)
  return { n, rows: count, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64') }
}
