/** Mounts the route of SOL transfers. */
import { solTransfers } from '../../src/api/sol-transfers.ts'
import { createSolTransfer } from '../../src/operations/sol-transfers.ts'
import type { Mount } from '../mount.ts'

export function solTransfersRoutes(mount: Mount): void {
  mount(solTransfers.create, createSolTransfer)
}
