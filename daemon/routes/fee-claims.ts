/** Mounts the routes of fee claims, one line per verb. */
import { feeClaims } from '../../src/api/fee-claims.ts'
import { createFeeClaim } from '../../src/operations/fee-claims/create-fee-claim.ts'
import { delegateFees } from '../../src/operations/fee-claims/delegate-fees.ts'
import { listFeeClaims } from '../../src/operations/fee-claims/list-fee-claims.ts'
import { listFeeDelegations } from '../../src/operations/fee-claims/list-fee-delegations.ts'
import { listPoolFeeClaims } from '../../src/operations/fee-claims/list-pool-fee-claims.ts'
import type { Mount } from '../mount.ts'

export function feeClaimsRoutes(mount: Mount): void {
  mount(feeClaims.create, createFeeClaim)
  mount(feeClaims.delegate, delegateFees)
  mount(feeClaims.delegations, listFeeDelegations)
  mount(feeClaims.listByPool, listPoolFeeClaims)
  mount.stored(feeClaims.list, listFeeClaims)
}
