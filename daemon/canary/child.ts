/** The process of a canary: tries the programs of a folder, and prints a line of JSON for each act. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { playActs } from './acts.ts'
import { openStage } from './stage.ts'

/** `folder` is temporary, and belongs to the canary. */
export async function playCanary([programsDir = '', folder = '']: readonly string[]): Promise<void> {
  const report = (act: object) => void process.stdout.write(`${JSON.stringify(act)}\n`)
  const stage = await openStage({ folder: mkdtempSync(join(folder, 'stage-')), programsDir, report })
  try {
    await playActs(stage)
  } finally {
    await stage.close()
  }
}
