/** Reads the programs that the product calls, and whether the builds on the cluster still work. */

import type { Api } from '../../api/index.ts'
import type { ProgramReport } from '../../api/programs.ts'
import type { Input, Result } from '../../api/route.ts'
import { failingInstructions } from '../../chain/program-cache/canary-report.ts'
import type { Context } from '../../context.ts'
import { ApiError, internal } from '../../platform/errors.ts'
import { isoTime } from '../../platform/timing.ts'
import { currentCanaryRun, isTested, type ProgramState, readProgramState } from './program-state.ts'
import { watchPrograms } from './watch-programs.ts'

type Routes = Api['programs']

/** Reads what is known about the builds of programs that the cluster runs. */
export async function readPrograms({ store, chain }: Context): Promise<ProgramReport> {
  return programReportOf(await readProgramState(store.db), chain.cluster.label)
}

function programReportOf(state: ProgramState | null, cluster: string): ProgramReport {
  const trial = state === null ? null : currentCanaryRun(state)
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

/** The look that runs, by the database that it writes to. */
const running = new WeakMap<Context['store'], ReturnType<typeof watchPrograms>>()

/** Throws internal_error when the node fails, or answers something else. */
export async function checkPrograms(
  context: Context,
  { again }: Input<Routes['check']>,
): Promise<Result<Routes['check']>> {
  const { store, ending, chain } = context
  const look =
    running.get(store) ?? watchPrograms(context, { signal: ending, again }).finally(() => running.delete(store))
  running.set(store, look)
  try {
    return programReportOf(await look, chain.cluster.label)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw internal(`The programs of ${chain.cluster.label} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
