/** Looks whether programs of the cluster have changed, before a command without a daemon builds its first transaction. */
import { readDeployments } from '../../chain/program-cache/deployments.ts'
import type { ProgramVerdicts } from '../../context.ts'
import { MINUTE_MS, once, SECOND_MS, withTimeout } from '../../platform/timing.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type KnownBuild, type ProgramState, readProgramState, storeProgramState } from './program-state.ts'
import { type WatchServices, watchPrograms } from './watch-programs.ts'

/** Commands that follow within this time do not look again. */
const LOOK_FRESH_MS = 10 * MINUTE_MS
/** A node that is slower than this does not delay the command. */
const LOOK_MS = 3 * SECOND_MS

type LookServices = WatchServices & { ending: AbortSignal }

/** The same verdicts; the first waits for one look. */
export function lookingFirst(services: LookServices): ProgramVerdicts {
  const look = once(() => lookIfDue(services))
  const { programs } = services
  return {
    ...programs,
    async failing() {
      await look()
      return programs.failing()
    },
  }
}

/** Two small calls; only if a slot has changed, the new builds are fetched and tried. Failures leave it for later. */
async function lookIfDue(services: LookServices): Promise<void> {
  const { chain, store, clock, log, programs, ending } = services
  // Its programs come from the program cache, which only this user changes.
  if (chain.cluster.kind === 'embedded') return
  try {
    const stored = await readProgramState(store.db)
    const age = clock.now() - (stored?.looked_at ?? 0)
    if (stored !== null && age >= 0 && age < LOOK_FRESH_MS) return
    const [genesis, deployments] = await withTimeout(LOOK_MS, ending, () =>
      Promise.all([chain.genesisHash(), readDeployments(chain, Object.values(PROGRAMS))]),
    )
    const before = stored?.genesis === genesis ? stored : null
    const builds = deployments.map(({ program: { id, name }, slot, authority, fault }): KnownBuild => {
      const known = before?.builds.find((build) => build.id === id && build.slot === slot)
      return known ?? { id, name, slot, authority, sha256: null, size: null, differences: [], fault }
    })
    if (before?.builds.some(({ id, slot }) => builds.find((build) => build.id === id)?.slot !== slot)) {
      await watchPrograms(services, { signal: ending })
      return
    }
    const state: ProgramState = { genesis, looked_at: clock.now(), builds, trials: before?.trials ?? [] }
    await store.write((tx) => storeProgramState(tx, state))
    programs.forget()
  } catch (error) {
    log.debug({ err: error }, 'the programs of the cluster were not looked at')
  }
}
