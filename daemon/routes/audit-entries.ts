/** Mounts the routes of the audit log, one line per verb. */
import { auditEntries } from '../../src/api/audit-entries.ts'
import { cutAuditEntries } from '../../src/operations/audit-entries/cut-audit-entries.ts'
import { listAuditEntries } from '../../src/operations/audit-entries/list-audit-entries.ts'
import { verifyAuditEntries } from '../../src/operations/audit-entries/verify-audit-entries.ts'
import type { Mount } from '../mount.ts'

export function auditEntriesRoutes(mount: Mount): void {
  mount.stored(auditEntries.list, listAuditEntries)
  mount(auditEntries.verify, verifyAuditEntries)
  mount(auditEntries.cut, cutAuditEntries)
}
