/** Mounts the routes of airdrops, one line per verb. */
import { airdrops } from '../../src/api/airdrops.ts'
import { claimAirdrop } from '../../src/operations/airdrops/claim-airdrop.ts'
import { createAirdrop } from '../../src/operations/airdrops/create-airdrop.ts'
import { getAirdrop } from '../../src/operations/airdrops/get-airdrop.ts'
import { getDistributor } from '../../src/operations/airdrops/get-distributor.ts'
import { getEntitlement } from '../../src/operations/airdrops/get-entitlement.ts'
import { listAirdropClaims } from '../../src/operations/airdrops/list-airdrop-claims.ts'
import { listAirdrops } from '../../src/operations/airdrops/list-airdrops.ts'
import { lookUpAirdrops } from '../../src/operations/airdrops/look-up-airdrops.ts'
import { readAirdropStats } from '../../src/operations/airdrops/read-airdrop-stats.ts'
import { withdrawVault } from '../../src/operations/airdrops/withdraw-vault.ts'
import type { Mount } from '../mount.ts'

export function airdropsRoutes(mount: Mount): void {
  mount(airdrops.create, createAirdrop)
  mount.stored(airdrops.list, listAirdrops)
  mount(airdrops.get, getAirdrop)
  mount(airdrops.stats, readAirdropStats)
  mount(airdrops.claims, listAirdropClaims)
  mount(airdrops.distributor, getDistributor)
  mount(airdrops.claim, claimAirdrop)
  mount(airdrops.entitlement, getEntitlement)
  mount(airdrops.withdraw, withdrawVault)
  mount(airdrops.lookup, lookUpAirdrops)
}
