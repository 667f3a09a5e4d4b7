/** Lists stored merkle trees, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageTrees } from '../../store/airdrops/merkle-trees.ts'
import { merkleTreeRecord, recordPage } from '../api-records.ts'

type ListMerkleTreesRoute = Api['merkleTrees']['list']

export async function listMerkleTrees(
  { store }: Pick<Context, 'store'>,
  input: Input<ListMerkleTreesRoute>,
): Promise<Result<ListMerkleTreesRoute>> {
  return recordPage(await pageTrees(store.db, input), merkleTreeRecord)
}
