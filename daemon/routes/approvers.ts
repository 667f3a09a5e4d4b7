/** Mounts the routes of approvers, one line per verb. */
import { approvers } from '../../src/api/approvers.ts'
import { addApprover, listApprovers, removeApprover } from '../../src/operations/approvers.ts'
import type { Mount } from '../mount.ts'

export function approversRoutes(mount: Mount): void {
  mount(approvers.add, addApprover)
  mount.stored(approvers.list, listApprovers)
  mount(approvers.remove, removeApprover)
}
