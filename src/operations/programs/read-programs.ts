/** Reads what is known about the builds of programs that the cluster runs. */
import type { ProgramReport } from '../../api/programs.ts'
import { failingInstructions } from '../../chain/program-cache/canary-report.ts'
import type { Context } from '../../context.ts'
import { isoTime } from '../../platform/timing.ts'
import { isTested, type ProgramState, readProgramState, trialOf } from './program-state.ts'

export async function readPrograms({ store, chain }: Context): Promise<ProgramReport> {
  return programReportOf(await readProgramState(store.db), chain.cluster.label)
}

export function programReportOf(state: ProgramState | null, cluster: string): ProgramReport {
  const trial = state === null ? null : trialOf(state)
  const acts = trial?.acts ?? []
  const refused = failingInstructions(acts).map(({ program, name }) => ({ program, name }))
  return {
    cluster,
    looked_at: state === null ? null : isoTime(state.looked_at),
    programs: (state?.builds ?? []).map((build) => ({ ...build, tested: isTested(build), fault: build.fault ?? null })),
    tried_at: trial === null ? null : isoTime(trial.tried_at),
    trial_error: trial?.error ?? null,
    acts: acts.map(({ act, status, error, instruction, failed_program = instruction?.program }) => ({
      act,
      status,
      error,
      instruction,
      failed_program: failed_program ?? null,
    })),
    refused,
  }
}
