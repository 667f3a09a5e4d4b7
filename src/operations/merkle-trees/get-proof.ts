/** The merkle proof of one wallet, from the stored tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../errors.ts'
import { keyFromBase58 } from '../../merkle/base58.ts'
import { LeafLayoutError } from '../../merkle/errors.ts'
import { lookUpProof, openHead, type ReadBlob } from '../../merkle/stored-tree.ts'
import { hashFromHex, toHex } from '../../merkle/tree.ts'
import { findTree, readBlob } from '../../store/merkle-trees.ts'
import { found } from '../found.ts'

type Route = Api['merkleTrees']['proof']

export async function getProof({ store }: Context, { id, wallet }: Input<Route>): Promise<Result<Route>> {
  const tree = found(await findTree(store.db, id), 'merkle tree', id)
  const read: ReadBlob = async (kind, n) => (await readBlob(store.db, id, kind, n)) ?? undefined
  try {
    const bytes = await read('head', 0)
    if (bytes === undefined) throw new LeafLayoutError('the head is missing')
    const proof = await lookUpProof(openHead(bytes, hashFromHex(tree.root)), keyFromBase58(wallet)!, read)
    if (proof === undefined) throw notFound(`The wallet ${wallet} is not in the merkle tree ${id}`)
    return {
      wallet,
      mint: tree.mint,
      amount: proof.amount.toString(),
      root: tree.root,
      proof: proof.proof.map((sibling) => toHex(sibling)),
    }
  } catch (error) {
    if (!(error instanceof LeafLayoutError)) throw error
    throw badRequest(
      `The stored leaves of the merkle tree ${id} do not match its root; build it again with replace: true`,
      {
        cause: error,
      },
    )
  }
}
