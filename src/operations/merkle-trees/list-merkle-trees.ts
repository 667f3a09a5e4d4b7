/** Stored merkle trees, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageTrees } from '../../store/merkle-trees.ts'
import { merkleTreeRecord, pageOf } from '../records.ts'

type Route = Api['merkleTrees']['list']

export async function listMerkleTrees({ store }: Context, input: Input<Route>): Promise<Result<Route>> {
  return pageOf(await pageTrees(store.db, input), merkleTreeRecord)
}
