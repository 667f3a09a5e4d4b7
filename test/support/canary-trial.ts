/** A trial of builds in this process, where the SDKs are loaded once for all trials. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { playActs } from '../../daemon/canary/acts.ts'
import { openStage } from '../../daemon/canary/stage.ts'
import type { CanaryAct } from '../../src/chain/program-cache/canary-report.ts'
import { SETTINGS_FILE } from '../../src/solana/cluster-settings.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { PROGRAMS_DIR } from './programs.ts'
import { temporaryFolder } from './service.ts'

/** Plays all acts with the cached builds, except those that are given; null is a program that the cluster lacks. */
export async function tryBuilds(changed: ReadonlyMap<string, Uint8Array | null> = new Map()): Promise<CanaryAct[]> {
  const folder = temporaryFolder()
  const programsDir = join(folder, 'programs')
  mkdirSync(programsDir)
  const link = (name: string) => symlinkSync(join(PROGRAMS_DIR, name), join(programsDir, name))
  for (const name of ['accounts', SETTINGS_FILE]) if (existsSync(join(PROGRAMS_DIR, name))) link(name)
  for (const { id } of Object.values(PROGRAMS)) {
    const build = changed.get(id)
    if (build === undefined) link(`${id}.so`)
    else if (build !== null) writeFileSync(join(programsDir, `${id}.so`), build)
  }
  const acts: CanaryAct[] = []
  const stage = await openStage({ folder, programsDir, report: (act) => acts.push(act) })
  try {
    await playActs(stage)
  } finally {
    await stage.close()
  }
  return acts
}
