/** Fee claims: one line per verb. */
import { api } from '../../src/api/index.ts'
import { listFeeClaims } from '../../src/operations/fee-claims/list-fee-claims.ts'
import { listPoolFeeClaims } from '../../src/operations/fee-claims/list-pool-fee-claims.ts'
import { type Mount, notYet } from '../mount.ts'

export function feeClaimsRoutes(mount: Mount): void {
  mount(api.feeClaims.create, notYet('Claiming fees'))
  mount(api.feeClaims.listByPool, listPoolFeeClaims)
  mount(api.feeClaims.list, listFeeClaims)
}
