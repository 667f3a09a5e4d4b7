/** Determines the public address of assets, which others must be able to reach as long as the chain refers to it. */
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import { type ApiError, internal } from '../platform/errors.ts'
import { readOwnIfThere } from '../platform/files.ts'
import { parseUrl } from '../platform/urls.ts'
import { type Config, DAEMON_FILE, type SettingName } from '../settings/config.ts'

/** Maximum URI length that the Metaplex programs and the clients of Token-2022 accept. */
const LONGEST_URI = 200

/** Returns the public address of an asset. Throws internal_error naming the setting that prevents one. */
export async function assetUri(config: Config, cluster: string, cid: string): Promise<string> {
  const uri = `${await publicBase(config, cluster)}/assets/${cid}`
  if (uri.length > LONGEST_URI) {
    throw internal(
      `public-url makes URIs of ${uri.length} characters, but a token has room for ${LONGEST_URI}: set a shorter one`,
    )
  }
  return uri
}

/** Throws like `assetUri`. One check suffices, because all identifiers have the same length. */
export async function checkAssetUri(config: Config, cluster: string): Promise<void> {
  await assetUri(config, cluster, 'bafkrei'.padEnd(59, 'a'))
}

/**
 * Returns the base URL without a trailing slash. Throws internal_error naming the setting if it does not suit
 * `cluster`; `why` says what needs it.
 */
export async function publicBase(config: Config, cluster: string, why = FOREVER): Promise<string> {
  const unfitUrl = (fault: string, unset?: SettingName): ApiError =>
    internal(`public-url ${fault}: ${why}; set it to the public https address of this service`, { unset })
  const text = config.values['public-url']
  if (text === undefined) {
    if (cluster === 'embedded') return localBase(config)
    throw unfitUrl('is not set', 'public-url')
  }
  const url = parseUrl(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw unfitUrl('is not a URL')
  if (url.username || url.password || url.search || url.hash) {
    throw unfitUrl('has a user name, a query or a fragment')
  }
  if (cluster !== 'embedded') {
    if (url.protocol !== 'https:') throw unfitUrl('is not https')
    if (isPrivateHost(url.hostname)) throw unfitUrl(`points to ${url.hostname}, which others cannot reach`)
  }
  return url.href.replace(/\/+$/, '')
}

const FOREVER = 'images and metadata are served from there, and their URI stays on chain forever'

/** Returns the address of this machine's daemon, which suffices for the embedded chain. */
async function localBase({ dataDir, values }: Config): Promise<string> {
  const text = readOwnIfThere(join(dataDir, DAEMON_FILE), { folder: 'own' })
  const running = text === null ? undefined : urlIn(text)
  if (running !== undefined) return running
  if (values.port === 0) {
    throw internal('port is 0 and no daemon runs, so the address of images is unknown; set port or public-url')
  }
  const anywhere = values.host === '0.0.0.0' || values.host === '::'
  const host = anywhere ? '127.0.0.1' : values.host
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${values.port}`
}

function urlIn(text: string): string | undefined {
  try {
    const { url } = JSON.parse(text) as { url?: unknown }
    return typeof url === 'string' ? parseUrl(url)?.origin : undefined
  } catch {
    return undefined
  }
}

const PRIVATE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv6')
}

/** Whether other users reach a different machine, or none, at this name or address. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const version = isIP(host)
  if (version !== 0) return PRIVATE.check(host, version === 4 ? 'ipv4' : 'ipv6')
  return !host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa)$/.test(host)
}
