/** Mounts the routes of airdrops, one line per verb. */
import { api } from '../../src/api/index.ts'
import { claimAirdrop } from '../../src/operations/airdrops/claim-airdrop.ts'
import { createAirdrop } from '../../src/operations/airdrops/create-airdrop.ts'
import { getAirdrop } from '../../src/operations/airdrops/get-airdrop.ts'
import { listAirdrops } from '../../src/operations/airdrops/list-airdrops.ts'
import { lookUpAirdrops } from '../../src/operations/airdrops/look-up-airdrops.ts'
import { withdrawVault } from '../../src/operations/airdrops/withdraw-vault.ts'
import type { Mount } from '../mount.ts'

export function airdropsRoutes(mount: Mount): void {
  mount(api.airdrops.create, createAirdrop)
  mount.stored(api.airdrops.list, listAirdrops)
  mount(api.airdrops.get, getAirdrop)
  mount(api.airdrops.claim, claimAirdrop)
  mount(api.airdrops.withdraw, withdrawVault)
  mount(api.airdrops.lookup, lookUpAirdrops)
}
