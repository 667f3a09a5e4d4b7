/** Mounts the routes of PDAs, one line per verb. */
import { pdas } from '../../src/api/pdas.ts'
import { derivePda } from '../../src/operations/pdas.ts'
import type { Mount } from '../mount.ts'

export function pdasRoutes(mount: Mount): void {
  mount(pdas.derive, derivePda)
}
