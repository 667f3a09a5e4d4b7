/** PDAs: one line per verb. */
import { api } from '../../src/api/index.ts'
import { type Mount, notYet } from '../mount.ts'

export function pdasRoutes(mount: Mount): void {
  mount(api.pdas.derive, notYet('Deriving an address'))
}
