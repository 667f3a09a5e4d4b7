/** Lists snapshots of holders, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageHolderSnapshots } from '../../store/resources/holder-snapshots.ts'
import { recordPage } from '../api-records.ts'
import { holderSnapshotRecord } from './holder-snapshot-record.ts'

type ListHolderSnapshotsRoute = Api['holderSnapshots']['list']

export async function listHolderSnapshots(
  { store }: Pick<Context, 'store'>,
  query: Input<ListHolderSnapshotsRoute>,
): Promise<Result<ListHolderSnapshotsRoute>> {
  return recordPage(await pageHolderSnapshots(store.db, query), holderSnapshotRecord)
}
