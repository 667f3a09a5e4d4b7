/** The checks of `svc doctor` about the chain: which cluster, whether it answers, and what the program cache holds. */
import { existsSync } from 'node:fs'
import type { Check } from '../commands/command.ts'
import { type Cluster, clusterOf } from '../src/chain/cluster.ts'
import { chainOwner } from '../src/chain/owner.ts'
import type { Config } from '../src/config.ts'
import { FileFault } from '../src/files.ts'

const PROBE_MS = 5_000

/** What `make` of the other checks gives, without what their files import. */
type Make = (check: string, detail: string, fix: string) => Check
export interface Makers {
  ok(check: string, detail: string): Check
  warn: Make
  fail: Make
}

export async function chainChecks(config: Config, makers: Makers): Promise<Check[]> {
  const cluster = clusterOf(config)
  return [
    makers.ok('cluster', `${cluster.label} (${ORIGINS[config.origins.url] ?? config.origins.url})`),
    cluster.kind === 'embedded' ? embedded(config, makers) : await reachable(cluster, makers),
    ...(await programCache(config, makers)),
    ...(await signerCheck(config, makers)),
    ...(await storageCheck(config, cluster, makers)),
  ]
}

const ORIGINS: Record<string, string> = { solana: "the Solana CLI's setting", environment: 'SVC_URL', flag: '--url' }

function embedded({ dataDir }: Config, { ok, fail }: Makers): Check {
  let owner: ReturnType<typeof chainOwner>
  try {
    owner = chainOwner(dataDir)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return fail('rpc', error.said, error.next)
  }
  return ok('rpc', owner === undefined ? 'in process; nobody serves it' : `pid ${owner.pid} at ${owner.rpc_url}`)
}

async function reachable({ rpcUrl, label }: Cluster, { ok, fail }: Makers): Promise<Check> {
  const { rpcText } = await import('../src/chain/program-cache/rpc.ts')
  const asked = await rpcText(rpcUrl, 'getSlot', [{ commitment: 'processed' }], { timeoutMs: PROBE_MS, attempts: 1 })
  return 'result' in asked
    ? ok('rpc', `${label} answers, slot ${asked.result}`)
    : fail('rpc', `${label}: ${asked.fault}`, 'check the setting url and the network')
}

async function programCache({ programsDir }: Config, { ok, warn, fail }: Makers): Promise<Check[]> {
  const fix = 'fill it with `svc localnet pull`'
  if (!existsSync(programsDir)) return [warn('program cache', `${programsDir} is not there yet`, fix)]
  const { readCache } = await import('../src/chain/program-cache/cache.ts')
  let programs: ReturnType<typeof readCache>
  try {
    programs = readCache(programsDir)
  } catch (error) {
    return [fail('program cache', (error as Error).message, 'remove that file and pull again')]
  }
  const missing = programs.filter(({ sha256 }) => sha256 === null).map(({ program }) => program.name)
  const changed = programs.filter(({ sha256, entry }) => sha256 !== null && entry !== null && entry.sha256 !== sha256)
  const count = `${programs.length - missing.length} of ${programs.length} programs in ${programsDir}`
  return [
    missing.length === 0
      ? ok('program cache', count)
      : warn('program cache', `${count}; missing: ${missing.join(', ')}`, fix),
    ...changed.map(({ program }) =>
      warn(
        'program cache',
        `${program.name} is not the file that was pulled`,
        'pull it again with `svc localnet pull`',
      ),
    ),
  ]
}

/** Asks the provider for the address of its key; signs no transaction. */
async function signerCheck(config: Config, { ok, fail }: Makers): Promise<Check[]> {
  if (config.values.signer === 'none') return []
  const { openConfiguredSigner } = await import('../src/chain/signer/index.ts')
  try {
    const signer = await openConfiguredSigner(config)
    await signer!.check()
    return [ok('signer', `${signer!.provider}, ${signer!.address}`)]
  } catch (error) {
    return [fail('signer', (error as Error).message, 'docs/signer.md lists what each provider needs')]
  }
}

/** Whether a launch could store its image here. */
async function storageCheck(config: Config, { kind }: Cluster, { ok, warn }: Makers): Promise<Check[]> {
  const { openStorage } = await import('../src/storage/storage.ts')
  try {
    await openStorage(config, kind).check()
    return [ok('storage', config.values.storage)]
  } catch (error) {
    return [warn('storage', (error as Error).message, 'needed to launch pools: docs/storage.md')]
  }
}
