/** Mounts the route of rent reclaims. */
import { rentReclaims } from '../../src/api/rent-reclaims.ts'
import { createRentReclaim } from '../../src/operations/rent-reclaims/create-rent-reclaim.ts'
import type { Mount } from '../mount.ts'

export function rentReclaimsRoutes(mount: Mount): void {
  mount(rentReclaims.create, createRentReclaim)
}
