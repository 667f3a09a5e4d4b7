/** The checks of `svc doctor` about the chain: the cluster, its program cache, the signer and the storage. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chainOwner } from '../../../src/chain/owner.ts'
import { FileFault } from '../../../src/platform/files.ts'
import { isoTime } from '../../../src/platform/timing.ts'
import { type Cluster, clusterOf, endpointsOf } from '../../../src/settings/cluster.ts'
import { type Config, DATABASE_FILE, nodesSource, type RpcEndpoint } from '../../../src/settings/config.ts'
import { CONSENSUS_NAMES } from '../../../src/solana/constants.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { failedCheck, passedCheck, warningCheck } from './checks.ts'

const NODE_PROBE_MS = 5_000

export async function chainChecks(config: Config): Promise<DoctorCheck[]> {
  const cluster = clusterOf(config)
  return [
    passedCheck('cluster', `${cluster.label} (${nodesSource(config)})`),
    ...(await nodeChecks(config, cluster)),
    ...(await programCache(config)),
    ...(await programChecks(config)),
    ...(await signerCheck(config)),
    ...(await storageCheck(config, cluster)),
  ]
}

function embeddedChainChecks({ dataDir }: Config): DoctorCheck {
  let owner: ReturnType<typeof chainOwner>
  try {
    owner = chainOwner(dataDir)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return failedCheck('rpc', error.problem, error.next)
  }
  return passedCheck(
    'rpc',
    owner === undefined ? 'opened by each command; no process serves it' : `pid ${owner.pid} at ${owner.rpc_url}`,
  )
}

async function nodeChecks(config: Config, cluster: Cluster): Promise<DoctorCheck[]> {
  if (cluster.kind === 'embedded') return [embeddedChainChecks(config)]
  const endpoints = endpointsOf(config)
  if (endpoints.length === 1) return [await reachable(cluster, endpoints[0]?.headers)]
  const { endpointChecks } = await import('./nodes.ts')
  return endpointChecks(endpoints, cluster)
}

async function reachable(
  { rpcUrl, label }: Cluster,
  headers: RpcEndpoint['headers'] | undefined,
): Promise<DoctorCheck> {
  const { rpcText } = await import('../../../src/chain/program-cache/rpc.ts')
  const { consensusOf } = await import('../../../src/chain/program-cache/settings.ts')
  const options = { headers, timeoutMs: NODE_PROBE_MS, attempts: 1 }
  const [answer, certificate] = await Promise.all([
    rpcText(rpcUrl, 'getSlot', [{ commitment: 'processed' }], options),
    rpcText(rpcUrl, 'getAgGenesisCert', [], options),
  ])
  const consensus = consensusOf(certificate)
  const runs = consensus === null ? 'consensus unknown' : CONSENSUS_NAMES[consensus]
  return 'result' in answer
    ? passedCheck('rpc', `${label} answers, slot ${answer.result}, ${runs}`)
    : failedCheck('rpc', `${label}: ${answer.fault}`, 'check the setting url and the network')
}

async function programCache({ programsDir }: Config): Promise<DoctorCheck[]> {
  const fix = 'fill it with `svc localnet pull`'
  if (!existsSync(programsDir)) return [warningCheck('program cache', `${programsDir} does not exist yet`, fix)]
  const { readCache } = await import('../../../src/chain/program-cache/cache.ts')
  let programs: ReturnType<typeof readCache>
  try {
    programs = readCache(programsDir)
  } catch (error) {
    return [failedCheck('program cache', (error as Error).message, 'remove that file and pull again')]
  }
  const missing = programs.filter(({ sha256 }) => sha256 === null).map(({ program }) => program.name)
  const changed = programs.filter(({ sha256, entry }) => sha256 !== null && entry !== null && entry.sha256 !== sha256)
  const count = `${programs.length - missing.length} of ${programs.length} programs in ${programsDir}`
  return [
    missing.length === 0
      ? passedCheck('program cache', count)
      : warningCheck('program cache', `${count}; missing: ${missing.join(', ')}`, fix),
    ...changed.map(({ program }) =>
      warningCheck(
        'program cache',
        `${program.name} is not the file that was pulled`,
        'pull it again with `svc localnet pull`',
      ),
    ),
  ]
}

/** What the last look at the programs of the cluster found, and whether one has changed since. */
async function programChecks(config: Config): Promise<DoctorCheck[]> {
  if (config.values['database-url'] === undefined && !existsSync(join(config.dataDir, DATABASE_FILE))) return []
  const [{ openStore, storeOptions }, { degradations, isTested, readProgramState, currentCanaryRun }] =
    await Promise.all([
      import('../../../src/store/open.ts'),
      import('../../../src/operations/programs/program-state.ts'),
    ])
  const store = await openStore(storeOptions(config)).catch(() => null)
  // The check of the database reports why it does not open.
  const state = store === null ? null : await readProgramState(store.db).catch(() => null)
  await store?.close()
  if (state === null) return []
  const upgraded = await upgradedSince(config, state.builds)
  const warnings = [...upgraded.map((name) => `${name} since the last look`), ...degradations(state)]
  const fix = '`svc programs check` tries the present builds'
  if (warnings.length > 0) return warnings.map((warning) => warningCheck('programs', warning, fix))
  const [trial, tested] = [currentCanaryRun(state), state.builds.filter(isTested).length]
  const tried = trial === null ? 'not tried' : `tried ${isoTime(trial.tried_at)}`
  const count = `${state.builds.length} programs of the cluster, ${tested} of them tested with this version`
  return [passedCheck('programs', `${count}, ${tried}`)]
}

/** What happened to programs that have another slot than in the last look; nothing if the node does not say. */
async function upgradedSince(
  config: Config,
  builds: readonly { id: string; name: string; slot: number | null }[],
): Promise<string[]> {
  if (clusterOf(config).kind === 'embedded') return []
  const [{ openChain }, { readDeployments }, { PROGRAMS }] = await Promise.all([
    import('../../../src/chain/connection.ts'),
    import('../../../src/chain/program-cache/deployments.ts'),
    import('../../../src/solana/programs.ts'),
  ])
  const chain = openChain(config)
  try {
    const deployments = await readDeployments(chain, Object.values(PROGRAMS))
    return deployments.flatMap(({ program, slot, fault }) => {
      const known = builds.find(({ id }) => id === program.id)
      return known !== undefined && known.slot !== slot
        ? [`${program.name} was ${fault === null ? 'upgraded' : 'closed'}`]
        : []
    })
  } catch {
    return []
  } finally {
    await chain.close()
  }
}

/** Requests the address of the key from the provider; signs no transaction. */
async function signerCheck(config: Config): Promise<DoctorCheck[]> {
  if (config.values.signer === 'none') return []
  const { openConfiguredSigner } = await import('../../../src/chain/signer/index.ts')
  try {
    const signer = await openConfiguredSigner(config)
    if (signer === null) return []
    await signer.check()
    return [passedCheck('signer', `${signer.provider}, ${signer.address}`)]
  } catch (error) {
    return [failedCheck('signer', (error as Error).message, 'docs/signer.md lists what each provider needs')]
  }
}

/** Checks whether a launch can store its image with the configured storage, and whether a bucket can be read. */
async function storageCheck(config: Config, { kind }: Cluster): Promise<DoctorCheck[]> {
  const { checkAssetUri } = await import('../../../src/storage/public-base.ts')
  const bucket = await bucketChecks(config)
  try {
    await checkAssetUri(config, kind)
    return [passedCheck('storage', config.values.storage), ...bucket]
  } catch (error) {
    return [warningCheck('storage', (error as Error).message, 'needed to launch pools: docs/storage.md'), ...bucket]
  }
}

/** Whether the bucket, if one is set, can be read and listed over an encrypted connection. */
async function bucketChecks(config: Config): Promise<DoctorCheck[]> {
  const [{ bucketPlace, isEncrypted }, { checkBucket }] = await Promise.all([
    import('../../../src/storage/s3-settings.ts'),
    import('../../../src/storage/s3.ts'),
  ])
  try {
    const place = bucketPlace(config)
    if (place === null) return []
    await checkBucket(place)
    const detail = `${place.label} answers, and can be read and listed`
    if (isEncrypted(new URL(place.origin))) return [passedCheck('bucket', detail)]
    const fix = 'give s3.endpoint an https URL, unless you trust the network'
    return [
      warningCheck('bucket', `${detail}, but over http: anyone on the network path can read and forge answers`, fix),
    ]
  } catch (error) {
    return [failedCheck('bucket', (error as Error).message, 'docs/storage.md says what a bucket needs')]
  }
}
