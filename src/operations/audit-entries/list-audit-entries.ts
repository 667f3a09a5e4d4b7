/** Lists pages of the audit log. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageAudit } from '../../store/audit/entries.ts'
import { auditEntryRecord, recordPage } from '../api-records.ts'

type ListAuditEntriesRoute = Api['auditEntries']['list']

export async function listAuditEntries(
  { store }: Pick<Context, 'store'>,
  input: Input<ListAuditEntriesRoute>,
): Promise<Result<ListAuditEntriesRoute>> {
  return recordPage(await pageAudit(store.db, input), auditEntryRecord)
}
