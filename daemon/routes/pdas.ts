/** Mounts the routes of PDAs, one line per verb. */
import { api } from '../../src/api/index.ts'
import { derivePda } from '../../src/operations/pdas/derive-pda.ts'
import type { Mount } from '../mount.ts'

export function pdasRoutes(mount: Mount): void {
  mount(api.pdas.derive, derivePda)
}
