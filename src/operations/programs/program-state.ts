/** What is known about the programs of the cluster: their builds, and what was tried with them; for all daemons. */
import {
  type CanaryAct,
  type FailingInstruction,
  failingInstructions,
} from '../../chain/program-cache/canary-report.ts'
import { isTestedBuild } from '../../chain/program-cache/versions.ts'
import type { ProgramVerdicts } from '../../context.ts'
import { findSetting, storeSetting } from '../../store/settings.ts'
import type { Reader, Store, Tx } from '../../store/store.ts'

/** The name of the row in the database's settings. */
export const STATE_NAME = 'programs'
/** Builds to which a program is taken back need no second trial. */
const MOST_CANARY_RUNS = 5
/** Milliseconds for which another daemon's verdict may be unknown here. */
const VERDICT_FRESH_MS = 5_000

export interface KnownBuild {
  id: string
  name: string
  slot: number | null
  authority: string | null
  /** SHA-256 without trailing zeros; null until the bytes were read. */
  sha256: string | null
  size: number | null
  /** How its published IDL differs from the instructions that svc builds. */
  differences: string[]
  /** Why the cluster cannot run it, as when it was closed; null if it can. Older states do not have it. */
  fault?: string | null
}

export interface CanaryRun {
  /** Identifies the builds that were tried together. */
  key: string
  /** Unix milliseconds. */
  tried_at: number
  acts: CanaryAct[]
  /** Why the process of the trial did not end by itself. */
  error: string | null
}

export interface ProgramState {
  genesis: string
  /** Unix milliseconds of the last look. */
  looked_at: number
  builds: KnownBuild[]
  /** The newest first. */
  trials: CanaryRun[]
}

export const keyOfBuilds = (builds: readonly KnownBuild[]): string =>
  builds
    .map(({ id, sha256 }) => `${id}:${sha256}`)
    .sort()
    .join(' ')

export const currentCanaryRun = ({ builds, trials }: ProgramState): CanaryRun | null =>
  trials.find(({ key }) => key === keyOfBuilds(builds)) ?? null

export const isTested = ({ id, sha256 }: KnownBuild): boolean => sha256 !== null && isTestedBuild(id, sha256)

export const failingOf = (state: ProgramState | null): FailingInstruction[] =>
  state === null ? [] : failingInstructions(currentCanaryRun(state)?.acts ?? [])

export async function readProgramState(reader: Reader): Promise<ProgramState | null> {
  const text = await findSetting(reader, STATE_NAME)
  return text === null ? null : (JSON.parse(text) as ProgramState)
}

/** Stores the state, and keeps the trials that another process has stored since it was read. */
export async function storeProgramState(tx: Tx, state: ProgramState): Promise<void> {
  const stored = await readProgramState(tx)
  const others = stored?.genesis === state.genesis ? stored.trials : []
  const missing = others.filter(({ key }) => state.trials.every((trial) => trial.key !== key))
  const trials = [...state.trials, ...missing].sort((a, b) => b.tried_at - a.tried_at).slice(0, MOST_CANARY_RUNS)
  await storeSetting(tx, STATE_NAME, JSON.stringify({ ...state, trials }))
}

/** Why an installation works with some of its acts missing; empty if none is. */
export function degradations(state: ProgramState | null): string[] {
  if (state === null) return []
  const unusable = state.builds.flatMap(({ name, fault }) =>
    fault ? [`the cluster cannot run ${name}: ${fault}`] : [],
  )
  return [...unusable, ...failuresOf(state)]
}

function failuresOf(state: ProgramState): string[] {
  const trial = currentCanaryRun(state)
  if (trial === null) return []
  const failed = trial.acts.filter(({ status }) => status === 'failed')
  if (failed.length === 0 && trial.error === null) return []
  const nameOf = (id: string) => state.builds.find((build) => build.id === id)?.name
  const acts = failed.map(({ act, instruction, failed_program }) => {
    if (instruction === null) return act
    const [caller, culprit] = [nameOf(instruction.program), nameOf(failed_program ?? instruction.program)]
    return `${act} (${culprit}, ${culprit === caller ? '' : `called by ${caller}, `}${instruction.name})`
  })
  return [`with the present programs of the cluster these fail: ${acts.join(', ')}; \`svc programs list\` says why`]
}

/** Reads the state at most every few seconds, because every build asks for it. */
export function openProgramVerdicts(store: Pick<Store, 'db'>): ProgramVerdicts {
  let latest: { at: number; state: Promise<ProgramState | null> } | undefined
  const state = () => {
    const now = performance.now()
    if (latest === undefined || now - latest.at >= VERDICT_FRESH_MS) {
      const reading = readProgramState(store.db)
      reading.catch(() => {
        latest = undefined
      })
      latest = { at: now, state: reading }
    }
    return latest.state
  }
  return {
    failing: async () => failingOf(await state()),
    degradations: async () => degradations(await state()),
    forget() {
      latest = undefined
    },
  }
}
