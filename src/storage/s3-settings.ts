/** Reads the settings of the bucket and checks that they fit together. No error quotes a value. */
import { parseUrl } from '../platform/urls.ts'
import { type Config, ConfigError, environmentName, howToSet, type SettingName } from '../settings/config.ts'

export interface BucketPlace {
  bucket: string
  region: string
  /** Scheme, host and port of every request. */
  origin: string
  /** Path of the bucket, with a slash at its end. */
  path: string
  /** Prefix of the identifier in each key: empty, or with a slash at its end. */
  prefix: string
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** Time for one request with its retries, in milliseconds. */
  timeoutMs: number
  /** The bucket in messages: its name and its host. */
  label: string
}

type BucketSetting = Extract<SettingName, `s3.${string}`>

/**
 * Returns the place of the bucket, or null if none is set and `storage` has another value. Throws ConfigError naming
 * the setting that is missing or does not fit.
 */
export function bucketPlace(config: Config): BucketPlace | null {
  const { values } = config
  if (values.storage !== 's3' && values['s3.bucket'] === undefined) return null
  const bucket = requiredText(config, 's3.bucket')
  const endpoint = endpointUrl(config)
  const accessKeyId = requiredText(config, 's3.access-key-id')
  const secretAccessKey = requiredText(config, 's3.secret-access-key')
  const sessionToken = values['s3.session-token']
  if (sessionToken !== undefined) requireEncryption(endpoint)
  const isVirtual = (values['s3.addressing-style'] ?? defaultStyle(config)) === 'virtual'
  if (isVirtual) requireVirtualHost(endpoint, bucket)
  const path = endpoint.pathname.replace(/\/*$/, '/')
  const prefix = values['s3.prefix']
  return {
    bucket,
    region: values['s3.region'],
    origin: isVirtual ? `${endpoint.protocol}//${bucket}.${endpoint.host}` : endpoint.origin,
    path: isVirtual ? path : `${path}${bucket}/`,
    prefix: prefix === undefined ? '' : prefix.replace(/\/?$/, '/'),
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    timeoutMs: values['s3.timeout-ms'],
    label: `the bucket ${bucket} at ${endpoint.host}`,
  }
}

function requiredText(config: Config, name: BucketSetting): string {
  const { values } = config
  const value = values[name]
  if (typeof value === 'string') return value
  const because = values.storage === 's3' ? 'storage is s3' : 's3.bucket is set'
  throw new ConfigError(`${name} is missing, and ${because}`, howToSet(config, name), name)
}

/** The server's address. An operator may set any, even in a private network. */
function endpointUrl({ values }: Config): URL {
  const region = values['s3.region']
  const text = values['s3.endpoint'] ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const url = parseUrl(text)
  if (url === undefined || url.username || url.password || url.search || url.hash) {
    throw misfit('s3.endpoint must be a plain URL, without user name, query or fragment', 's3.endpoint')
  }
  return url
}

const defaultStyle = ({ values }: Config) => (values['s3.endpoint'] === undefined ? 'virtual' : 'path')

/** Whether others on the network cannot read the traffic: https, or a server on this machine. */
export const isEncrypted = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Unlike the secret key, the session token is sent with each request. */
function requireEncryption(endpoint: URL): void {
  if (isEncrypted(endpoint)) return
  throw misfit('s3.session-token is sent with each request: s3.endpoint must be an https URL', 's3.endpoint')
}

function requireVirtualHost({ protocol, hostname }: URL, bucket: string): void {
  // Imported only if a bucket is set, because every command in process reads these settings.
  const { isIP } = process.getBuiltinModule('node:net')
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw misfit(
      's3.addressing-style is virtual, but the name of a bucket cannot precede an IP address',
      's3.addressing-style',
    )
  }
  if (protocol === 'https:' && bucket.includes('.')) {
    throw misfit(
      'no certificate matches a bucket with a dot in its name if s3.addressing-style is virtual; use path',
      's3.addressing-style',
    )
  }
}

const misfit = (problem: string, name: BucketSetting) => new ConfigError(problem, `set ${environmentName(name)}`)
