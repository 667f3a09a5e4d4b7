/** Returns one stored merkle tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import { merkleTreeRecord, requireRecord } from '../api-records.ts'

type GetMerkleTreeRoute = Api['merkleTrees']['get']

export async function getMerkleTree(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetMerkleTreeRoute>,
): Promise<Result<GetMerkleTreeRoute>> {
  return merkleTreeRecord(requireRecord(await findTree(store.db, id), 'merkle tree', id))
}
