/** Finds which database an installation has, and whether a daemon is using it. */
import type { Config } from '../../../src/settings/config.ts'
import { runningDaemon } from '../../cli/connection.ts'
import { Problem } from '../../ui/problem.ts'

export const databaseKind = ({ values }: Config): 'sqlite' | 'postgres' =>
  values['database-url'] === undefined ? 'sqlite' : 'postgres'

/** Throws conflict while a daemon of this folder runs; `because` is the reason. */
export function refuseBesideDaemon(config: Config, because: string): void {
  const daemon = runningDaemon(config)
  if (daemon === undefined) return
  throw new Problem('conflict', `a daemon runs on ${config.dataDir} (pid ${daemon.pid}): ${because}`, {
    next: 'stop it, then run this again',
  })
}
