/** Returns one snapshot of holders. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findHolderSnapshot } from '../../store/resources/holder-snapshots.ts'
import { requireRecord } from '../api-records.ts'
import { holderSnapshotRecord } from './holder-snapshot-record.ts'

type GetHolderSnapshotRoute = Api['holderSnapshots']['get']

export async function getHolderSnapshot(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetHolderSnapshotRoute>,
): Promise<Result<GetHolderSnapshotRoute>> {
  return holderSnapshotRecord(requireRecord(await findHolderSnapshot(store.db, id), 'holder snapshot', id))
}
