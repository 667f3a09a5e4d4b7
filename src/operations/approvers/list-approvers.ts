/** Lists approvers, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageApprovers } from '../../store/proposals/approvers.ts'
import { recordPage } from '../api-records.ts'
import { approverRecord } from './approver-record.ts'

type ListApproversRoute = Api['approvers']['list']

export async function listApprovers(
  { store }: Pick<Context, 'store'>,
  input: Input<ListApproversRoute>,
): Promise<Result<ListApproversRoute>> {
  return recordPage(await pageApprovers(store.db, input), approverRecord)
}
