/** Airdrops: one line per verb. */
import { api } from '../../src/api/index.ts'
import { getAirdrop } from '../../src/operations/airdrops/get-airdrop.ts'
import { listAirdrops } from '../../src/operations/airdrops/list-airdrops.ts'
import { type Mount, notYet } from '../mount.ts'

export function airdropsRoutes(mount: Mount): void {
  mount(api.airdrops.create, notYet('Initializing an airdrop'))
  mount(api.airdrops.list, listAirdrops)
  mount(api.airdrops.get, getAirdrop)
  mount(api.airdrops.claim, notYet('Claiming from an airdrop'))
  mount(api.airdrops.withdraw, notYet('Withdrawing a vault'))
}
