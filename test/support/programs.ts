/** The program cache of whoever runs the tests: real binaries, never part of the repository. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const PROGRAMS_DIR =
  process.env.SVC_PROGRAMS_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'programs')

/** Tests that need a program are skipped, by name, where this is false. */
export const hasProgram = (id: string): boolean => existsSync(join(PROGRAMS_DIR, `${id}.so`))
