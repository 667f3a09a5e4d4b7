/** Whether the audit log is as it was written. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { verifyAudit } from '../../store/audit-entries.ts'

type Route = Api['auditEntries']['verify']

export async function verifyAuditEntries({ store }: Context, { head: wanted }: Input<Route>): Promise<Result<Route>> {
  const { entries, head, broken } = await verifyAudit(store.db, wanted)
  return { intact: broken === null, entries, head, broken }
}
