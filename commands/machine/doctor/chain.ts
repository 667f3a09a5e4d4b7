/** The checks of `svc doctor` about the chain: the cluster, its program cache, the signer and the storage. */
import { existsSync } from 'node:fs'
import { chainOwner } from '../../../src/chain/owner.ts'
import { FileFault } from '../../../src/platform/files.ts'
import { type Cluster, clusterOf, endpointsOf } from '../../../src/settings/cluster.ts'
import { type Config, environmentName, type Origin, type RpcEndpoint } from '../../../src/settings/config.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { failedCheck, passedCheck, warningCheck } from './checks.ts'

const NODE_PROBE_MS = 5_000

export async function chainChecks(config: Config): Promise<DoctorCheck[]> {
  const cluster = clusterOf(config)
  return [
    passedCheck('cluster', `${cluster.label} (${originOf(config)})`),
    ...(await nodeChecks(config, cluster)),
    ...(await programCache(config)),
    ...(await signerCheck(config)),
    ...(await storageCheck(config, cluster)),
  ]
}

/** The source of the nodes' setting. */
function originOf({ values, origins }: Config): string {
  const name = values['rpc-urls'] === undefined ? 'url' : 'rpc-urls'
  const variable = environmentName(name)
  const words: Partial<Record<Origin, string>> = {
    solana: "the Solana CLI's setting",
    environment: variable,
    file: `${variable}_FILE`,
    flag: `--${name}`,
  }
  return words[origins[name]] ?? origins[name]
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
  const answer = await rpcText(rpcUrl, 'getSlot', [{ commitment: 'processed' }], {
    ...{ headers, timeoutMs: NODE_PROBE_MS, attempts: 1 },
  })
  return 'result' in answer
    ? passedCheck('rpc', `${label} answers, slot ${answer.result}`)
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
