/** Mounts the routes of token transfers, one line per verb. */
import { tokenTransfers } from '../../src/api/token-transfers.ts'
import { createTokenTransfer } from '../../src/operations/token-transfers/create-token-transfer.ts'
import { planTokenTransfers } from '../../src/operations/token-transfers/plan-token-transfers.ts'
import type { Mount } from '../mount.ts'

export function tokenTransfersRoutes(mount: Mount): void {
  mount(tokenTransfers.create, createTokenTransfer)
  mount(tokenTransfers.plan, planTokenTransfers)
}
