/** Returns the merkle proof of one wallet from the stored tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { toHex } from '../../merkle/tree.ts'
import { notFound } from '../../platform/errors.ts'
import { withTree } from './open-tree.ts'
import { keyBytesOf } from './tree-keys.ts'

type GetProofRoute = Api['merkleTrees']['proof']

export function getProof(context: Context, { id, wallet }: Input<GetProofRoute>): Promise<Result<GetProofRoute>> {
  return withTree(context, id, async ({ row, head, read }) => {
    const proof = await lookUpProof(head, keyBytesOf(wallet), read)
    if (proof === undefined) throw notFound(`The wallet ${wallet} is not in the merkle tree ${id}`)
    return {
      wallet,
      mint: row.mint,
      amount: proof.amount.toString(),
      amount_locked: proof.locked.toString(),
      root: row.root,
      proof: proof.proof.map((sibling) => toHex(sibling)),
    }
  })
}
