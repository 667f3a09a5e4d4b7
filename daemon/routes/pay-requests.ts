/** Mounts the routes of pay requests, one line per verb. */
import { payRequests } from '../../src/api/pay-requests.ts'
import {
  buildForOwner,
  createPayRequest,
  getPayRequest,
  listPayRequests,
  revokePayRequest,
} from '../../src/operations/pay-requests/verbs.ts'
import type { Mount } from '../mount.ts'

export function payRequestsRoutes(mount: Mount): void {
  mount(payRequests.create, createPayRequest)
  mount(payRequests.list, listPayRequests)
  mount(payRequests.get, getPayRequest)
  mount(payRequests.build, buildForOwner)
  mount(payRequests.revoke, revokePayRequest)
}
