/** The program cache of whoever runs the tests: real binaries, never part of the repository. */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SETTINGS_FILE } from '../../src/solana/cluster-settings.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { makeSharedFolder } from './shared-folder.ts'

export const PROGRAMS_DIR =
  process.env.SVC_PROGRAMS_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'programs')

/** The consensus of new embedded chains in tests, if SVC_TEST_CONSENSUS names one. */
export const TEST_CONSENSUS = process.env.SVC_TEST_CONSENSUS as Consensus | undefined
/** The same as the environment of a command. */
export const consensusEnvironment = TEST_CONSENSUS === undefined ? {} : { SVC_CONSENSUS: TEST_CONSENSUS }

/** Tests that need a program are skipped, by name, where this is false. */
export const hasProgram = (id: string): boolean => existsSync(join(PROGRAMS_DIR, `${id}.so`))

/** Whether this run has no guards, because their program is not in the cache. */
export const lacksGuards = !hasProgram(PROGRAMS.lighthouse.id)

/** Whether the cached program has an instruction, which it logs by this name. False without the program. */
export const hasInstruction = (id: string, name: string): boolean =>
  hasProgram(id) && readFileSync(join(PROGRAMS_DIR, `${id}.so`)).includes(`Instruction: ${name}`)

let quick: string | undefined

/** The same cache for a chain with slots of 100 ms: a transaction is confirmed and final in half of the usual time. */
export function quickProgramsDir(): string {
  if (quick !== undefined) return quick
  quick = makeSharedFolder('svc-quick-')
  const names = existsSync(PROGRAMS_DIR) ? readdirSync(PROGRAMS_DIR) : []
  for (const name of names) if (name !== SETTINGS_FILE) symlinkSync(join(PROGRAMS_DIR, name), join(quick, name))
  writeFileSync(join(quick, SETTINGS_FILE), JSON.stringify({ slot_ms: 100 }))
  return quick
}
