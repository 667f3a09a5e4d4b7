/** Mounts the routes of pay requests, one line per verb. */
import { payRequests } from '../../src/api/pay-requests.ts'
import { buildForOwner } from '../../src/operations/pay-requests/build-for-owner.ts'
import { createPayRequest } from '../../src/operations/pay-requests/create-pay-request.ts'
import { getPayRequest } from '../../src/operations/pay-requests/get-pay-request.ts'
import { listPayRequests } from '../../src/operations/pay-requests/list-pay-requests.ts'
import { revokePayRequest } from '../../src/operations/pay-requests/revoke-pay-request.ts'
import type { Mount } from '../mount.ts'

export function payRequestsRoutes(mount: Mount): void {
  mount(payRequests.create, createPayRequest)
  mount(payRequests.list, listPayRequests)
  mount(payRequests.get, getPayRequest)
  mount(payRequests.build, buildForOwner)
  mount(payRequests.revoke, revokePayRequest)
}
