/** Mounts the routes of approvers, one line per verb. */
import { approvers } from '../../src/api/approvers.ts'
import { addApprover } from '../../src/operations/approvers/add-approver.ts'
import { listApprovers } from '../../src/operations/approvers/list-approvers.ts'
import { removeApprover } from '../../src/operations/approvers/remove-approver.ts'
import type { Mount } from '../mount.ts'

export function approversRoutes(mount: Mount): void {
  mount(approvers.add, addApprover)
  mount.stored(approvers.list, listApprovers)
  mount(approvers.remove, removeApprover)
}
