/** TLS of the PostgreSQL connection: its mode, and the files of certificates and keys. */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { internal } from '../../platform/errors.ts'
import { readAtMost } from '../../platform/files.ts'
import { parseUrl } from '../../platform/urls.ts'

const TLS_MODES = ['disable', 'no-verify', 'verify-ca', 'verify-full'] as const
type TlsMode = (typeof TLS_MODES)[number]

/** The settings `postgres.ssl…`; each overrides the parameter of the URL with the same name. */
export interface TlsSettings {
  sslmode?: string | undefined
  sslrootcert?: string | undefined
  sslcert?: string | undefined
  sslkey?: string | undefined
}

/** Target of the driver; without `ssl`, the driver's own environment variables decide. */
export interface PostgresTarget {
  connectionString: string
  ssl?: false | ConnectionOptions
}

/** URL parameters that this file reads and the driver must not see. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat']

/**
 * Returns the target with its TLS options. `prefer`, `require` and `allow` in a URL mean verify-full, so no connection
 * is unverified by accident. `uselibpqcompat=true` gives them libpq's meaning. Throws internal_error that names the
 * setting.
 */
export function postgresTarget(url: string, settings: TlsSettings): PostgresTarget {
  const parsed = parseUrl(url)
  const parameters = parsed?.searchParams ?? new URLSearchParams()
  const read = (name: keyof TlsSettings) => settings[name] ?? parameters.get(name) ?? undefined
  const mode = chosenMode(settings, parameters)
  if (mode === undefined || parsed === undefined) return { connectionString: url }
  const files = { ca: read('sslrootcert'), cert: read('sslcert'), key: read('sslkey') }
  for (const name of TLS_PARAMETERS) parsed.searchParams.delete(name)
  const connectionString = parsed.href
  if (mode === 'disable') return { connectionString, ssl: false }
  return { connectionString, ssl: { ...certificates(files), ...verification(mode, files.ca) } }
}

function chosenMode(settings: TlsSettings, parameters: URLSearchParams): TlsMode | undefined {
  const set = TLS_MODES.find((mode) => mode === settings.sslmode)
  if (set !== undefined) return set
  const named = modeInUrl(parameters)
  if (named !== undefined) return named
  const hasFile = [settings.sslrootcert, settings.sslcert].some((file) => file !== undefined)
  return hasFile || parameters.has('sslrootcert') || parameters.has('sslcert') ? 'verify-full' : undefined
}

function modeInUrl(parameters: URLSearchParams): TlsMode | undefined {
  const [sslmode, ssl] = [parameters.get('sslmode'), parameters.get('ssl')]
  const exact = TLS_MODES.find((mode) => mode === sslmode || mode === ssl)
  if (exact !== undefined) return exact
  if (sslmode !== null) {
    if (!['allow', 'prefer', 'require'].includes(sslmode)) {
      throw internal(`the database URL has an unknown sslmode; it takes ${TLS_MODES.join(', ')}, or require`)
    }
    if (parameters.get('uselibpqcompat') !== 'true') return 'verify-full'
    return sslmode === 'require' && parameters.has('sslrootcert') ? 'verify-ca' : 'no-verify'
  }
  if (ssl === null) return undefined
  return ssl === '0' || ssl === 'false' ? 'disable' : 'verify-full'
}

function verification(mode: TlsMode, ca: string | undefined): ConnectionOptions {
  if (mode === 'no-verify') return { rejectUnauthorized: false }
  if (mode === 'verify-full') return { rejectUnauthorized: true }
  // Anyone can get a certificate from a public authority, so only a named authority proves anything here.
  if (ca === undefined || ca === SYSTEM_AUTHORITIES) {
    throw internal('postgres.sslmode verify-ca needs postgres.sslrootcert; or use verify-full')
  }
  return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
}

/** libpq's word for the authorities that the system trusts. */
const SYSTEM_AUTHORITIES = 'system'

function certificates({ ca, cert, key }: Record<'ca' | 'cert' | 'key', string | undefined>): ConnectionOptions {
  if ((cert === undefined) !== (key === undefined)) {
    throw internal('postgres.sslcert and postgres.sslkey must be set together, or neither of them')
  }
  return {
    ...(ca === undefined || ca === SYSTEM_AUTHORITIES ? {} : { ca: readPem('postgres.sslrootcert', ca) }),
    ...(cert === undefined ? {} : { cert: readPem('postgres.sslcert', cert) }),
    ...(key === undefined ? {} : { key: readPem('postgres.sslkey', key, requireSecret) }),
  }
}

/** Largest file in bytes; a system's whole list of trusted authorities is a quarter of it. */
const PEM_BYTES = 1_048_576

/** Follows links, because systems and Kubernetes mount certificates as links. */
function readPem(setting: string, file: string, check: (stats: Stats) => string | undefined = () => undefined): string {
  let text: string
  let fault: string | undefined
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = fstatSync(descriptor)
      fault = stats.isFile() ? check(stats) : 'is not a file'
      const content = fault === undefined ? readAtMost(descriptor, PEM_BYTES) : Buffer.alloc(0)
      if (content === null) fault = `has more than ${PEM_BYTES} bytes: check what it is`
      text = content?.toString('utf8') ?? ''
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw internal(`${setting}: ${file} cannot be read: ${code === 'ENOENT' ? 'it does not exist' : code}`)
  }
  if (fault !== undefined) throw internal(`${setting}: ${file} ${fault}`)
  if (!text.includes('-----BEGIN ')) throw internal(`${setting}: ${file} is not a PEM file: it has no -----BEGIN line`)
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    throw internal(
      `${setting}: ${file} is encrypted with a passphrase; use a key without one, readable by this user alone`,
    )
  }
  return text
}

/** libpq's rule: a key of this user must be private (0600); one owned by root may be readable by its group (0640). */
function requireSecret({ uid, mode }: Stats): string | undefined {
  const user = process.getuid?.()
  if (user === undefined) return undefined
  if (uid !== user && uid !== 0) return `belongs to another user (uid ${uid}, not ${user})`
  const refused = uid === 0 && user !== 0 ? 0o037 : 0o077
  if ((mode & refused) === 0) return undefined
  return `can be read by others (mode ${(mode & 0o777).toString(8)}); run chmod 600 on it`
}

/** The fix, by the code or the message of a failed connection. */
const TLS_REMEDIES: readonly [RegExp, string][] = [
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
    'set postgres.sslrootcert to the authority that signed the certificate of the server',
  ],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, 'the certificate of the server must be renewed, or a clock is wrong'],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    'use the host name that is in the certificate, or set postgres.sslmode to verify-ca',
  ],
  [/does not support SSL/, 'enable ssl on the server, or set postgres.sslmode to disable'],
  [/no pg_hba\.conf entry .*no encryption/, 'the server requires TLS: set postgres.sslmode to verify-full'],
  [
    /valid client certificate|alert (?:certificate required|unknown ca|bad certificate)/i,
    'the server requires a client certificate that it accepts: set postgres.sslcert and postgres.sslkey',
  ],
]

/** Returns the TLS setting to change if TLS made the connection fail; undefined for other errors. */
export function tlsRemedy(error: Error & { code?: unknown }): string | undefined {
  const text = `${String(error.code ?? '')} ${error.message}`
  return TLS_REMEDIES.find(([pattern]) => pattern.test(text))?.[1]
}
