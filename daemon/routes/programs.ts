/** Mounts the routes of the programs, one line per verb. */
import { programs } from '../../src/api/programs.ts'
import { checkPrograms } from '../../src/operations/programs/check-programs.ts'
import { readPrograms } from '../../src/operations/programs/read-programs.ts'
import type { Mount } from '../mount.ts'

export function programsRoutes(mount: Mount): void {
  mount(programs.get, readPrograms)
  mount(programs.check, checkPrograms)
}
