/** What is stored about the installation and ages: its backups, and the builds of the programs that it calls. */
import { printableLine } from '../../platform/printable.ts'
import { DAY_MS, isoTime } from '../../platform/timing.ts'
import type { Observation } from '../../store/attention/looks.ts'
import { readBackupRecord } from '../../store/installation/backup-record.ts'
import { currentCanaryRun, isTested, type ProgramState, readProgramState } from '../programs/program-state.ts'
import type { LookAt } from './looks.ts'

const LONGEST_TEXT = 200
const clean = (text: string) => printableLine(text, LONGEST_TEXT)

export const backupLook: LookAt = {
  kinds: ['backup_failed', 'backup_old'],
  async look({ store, clock, config }) {
    const { made_at, failed_at, error } = await readBackupRecord(store.db)
    const found: Observation[] = []
    if (failed_at !== null && failed_at > (made_at ?? 0))
      found.push({ kind: 'backup_failed', subject: 'database', since: failed_at, facts: { error: clean(error ?? '') } })
    const oldAt = made_at === null ? null : made_at + config.values['backup-days'] * DAY_MS
    if (oldAt !== null && oldAt <= clock.now())
      found.push({ kind: 'backup_old', subject: 'database', since: oldAt, facts: { made_at: isoTime(made_at ?? 0) } })
    return found
  },
}

export const programLook: LookAt = {
  kinds: ['program_changed'],
  async look({ store }) {
    const state = await readProgramState(store.db)
    if (state === null) return []
    return state.builds.flatMap((build): Observation[] => {
      const what = changeOf(state, build)
      return what === null ? [] : [{ kind: 'program_changed', subject: build.id, facts: { name: build.name, ...what } }]
    })
  },
}

/** What is wrong with a build: the cluster cannot run it, acts fail with it, or this version was not tested with it. */
function changeOf(state: ProgramState, build: ProgramState['builds'][number]) {
  const { id, fault, sha256 } = build
  if (fault) return { state: 'unusable', detail: clean(fault) }
  const run = currentCanaryRun(state)
  const failed = (run?.acts ?? []).filter(
    ({ status, instruction, failed_program }) =>
      status === 'failed' && (failed_program ?? instruction?.program ?? null) === id,
  )
  if (failed.length > 0) return { state: 'failing', detail: clean(failed.map(({ act }) => act).join(', ')) }
  if (sha256 === null || isTested(build)) return null
  return { state: run === null || run.error !== null ? 'untried' : 'untested', detail: null }
}
