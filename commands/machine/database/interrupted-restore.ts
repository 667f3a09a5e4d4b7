/** Completes a restore that was killed while it replaced the files of a data folder. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, RESTORE_FILE } from '../../../src/settings/config.ts'

/** Returns the configuration unchanged; loads nothing if there is no such restore. */
export async function completeRestore(config: Config): Promise<Config> {
  if (!existsSync(join(config.dataDir, RESTORE_FILE))) return config
  const { finishInterruptedRestore } = await import('../../../src/store/transfer/restore-switch.ts')
  await finishInterruptedRestore(config.dataDir)
  return config
}
