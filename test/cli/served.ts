/** The service of a data folder inside the test's process: commands find it and speak to it over HTTP, as to a daemon. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../daemon/app.ts'
import { createHttpServer } from '../../daemon/http-server.ts'
import { serveChain } from '../../daemon/localnet.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import { newOwner } from '../../daemon/owners.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import type { WorkerDefinition } from '../../daemon/workers/definition.ts'
import { startWorkers, systemTiming, type Workers } from '../../daemon/workers/frame.ts'
import type { Timing } from '../../daemon/workers/timing.ts'
import {
  airdropFullyClaimedWorker,
  goldUnlockEligibleWorker,
  poolMigrationWorker,
  transactionWatcherWorker,
} from '../../daemon/workers/workers.ts'
import type { Services } from '../../src/context.ts'
import { lockFolder } from '../../src/platform/folder-lock.ts'
import { silentLog } from '../../src/platform/log.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { databaseEnvironment } from '../support/database.ts'
import { listening } from '../support/ports.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { type Requester, requester } from '../support/request.ts'
import { sharedTrees } from '../support/shared-trees.ts'

/** Those whose work commands wait for. */
const WORKERS = [
  transactionWatcherWorker,
  poolMigrationWorker,
  airdropFullyClaimedWorker,
  goldUnlockEligibleWorker,
] as const

/** Commands wait for the rounds of these workers: each comes every second. */
const timing: Timing = {
  ...systemTiming,
  every: (schedule, act) => systemTiming.every({ ...schedule, everyMs: 1_000 }, act),
}

export interface Served {
  url: string
  /** Of the embedded chain; empty on another cluster. */
  rpcUrl: string
  operator: string
  request: Requester
  /** The embedded chain itself. */
  local: Services['chain']['local']
  stop(): Promise<void>
}

/** The parts of `svc serve` without its process: signals and the end of the process are those of the test run. */
export async function serveHere(
  dataDir: string,
  env: Record<string, string> = {},
  more: readonly WorkerDefinition[] = [],
): Promise<Served> {
  const settings = { SVC_PROGRAMS_DIR: quickProgramsDir(), ...(await databaseEnvironment(dataDir, env)), ...env }
  const flags = { 'data-dir': dataDir, 'rpc-port': 0 }
  const config = loadConfig({ flags, env: settings, cwd: dataDir })
  const services = { ...(await openServices(config)), trees: sharedTrees(), role: 'all' as const }
  const unlock = await lockFolder(dataDir)
  const operator = await operatorKey(services)
  let workers: Workers | undefined
  const app = await createApp({ ...services, workers: () => workers?.status() ?? services.workers() })
  const server = createHttpServer(app, config)
  const url = await listening(server)
  const chain = await serveChain(config, services.chain, silentLog)
  if (chain !== undefined) await services.chain.local()
  workers = startWorkers(services, [...WORKERS, ...more], {
    owner: newOwner(),
    metrics: createMetrics(),
    timing,
  })
  await services.store.wakeups.listen(workers.wake, silentLog)
  const request = requester(url, fetch, operator)
  // A command asks for the health first, and waits three seconds: its modules are loaded here.
  await request('GET', '/v2/health', { key: null })
  // A command takes no daemon for its own process; the parent lives as long as this one.
  const rpc = { pid: process.ppid, rpc_url: chain?.rpcUrl, ws_url: chain?.wsUrl }
  const put = (name: string, content: object) =>
    writeFileSync(join(dataDir, name), JSON.stringify(content), { mode: 0o600 })
  if (chain !== undefined) put('localnet.json', rpc)
  put('daemon.json', { ...rpc, url, role: 'all', cluster: services.chain.cluster.label })
  return {
    url,
    rpcUrl: chain?.rpcUrl ?? '',
    operator,
    request,
    local: () => services.chain.local(),
    async stop() {
      server.close()
      server.closeAllConnections()
      await workers.stop()
      await app.close()
      rmSync(join(dataDir, 'daemon.json'), { force: true })
      await chain?.close()
      await services.close()
      unlock?.()
    },
  }
}
