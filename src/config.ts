/** Settings as one table: every setting's name, type, default and meaning, and where its value came from. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

type Kind = 'string' | 'integer' | 'boolean' | 'list'

export interface Setting {
  kind: Kind
  default?: string | number | boolean | readonly string[]
  about: string
  /** Never printed; `svc config` refuses to write it into a file. */
  secret?: true
  /** An http or https URL, or one of these words. */
  urlOr?: readonly string[]
  /** A URL that may hold a key: printed as its host alone. */
  private?: true
  /** The only texts allowed. */
  choices?: readonly string[]
  /** What a text must look like, and how that is said after "must be". */
  pattern?: { is: RegExp; about: string }
  min?: number
  max?: number
}

const define = <T extends Record<string, Setting>>(settings: T) => settings

export const SETTINGS = define({
  'data-dir': { kind: 'string', about: 'Data folder: database, keys, daemon.json (default: the XDG data folder)' },
  host: { kind: 'string', default: '127.0.0.1', about: 'Address that `svc serve` listens on' },
  port: { kind: 'integer', default: 8787, min: 0, max: 65535, about: 'Port that `svc serve` listens on; 0 takes any' },
  'database-url': { kind: 'string', secret: true, about: 'PostgreSQL URL; without one, SQLite in the data folder' },
  'encryption-key': { kind: 'string', secret: true, about: '32 bytes in base64 or hex; required with PostgreSQL' },
  'public-url': { kind: 'string', about: 'Public https address of this service, for links in its answers' },
  'body-limit-mib': { kind: 'integer', default: 16, min: 1, max: 1024, about: 'Largest request body in MiB' },
  'idempotency-hours': {
    kind: 'integer',
    default: 24,
    min: 1,
    max: 720,
    about: 'How long an Idempotency-Key is remembered',
  },
  'rate-per-minute': {
    kind: 'integer',
    default: 120,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a minute of a new key',
  },
  'rate-per-day': {
    kind: 'integer',
    default: 50_000,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a day of a new key',
  },
  'log-level': {
    kind: 'string',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    about: 'fatal, error, warn, info, debug, trace or silent',
  },
  'webhooks.allow-private': {
    kind: 'boolean',
    default: false,
    about: 'Allow http and private addresses as webhook receivers (development only)',
  },
  url: {
    kind: 'string',
    urlOr: ['embedded', 'mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't', 'localhost', 'l'],
    private: true,
    about:
      'Cluster: embedded, mainnet-beta (m), devnet (d), testnet (t), localhost (l) or an RPC URL (default: what the Solana CLI is set to, else embedded)',
  },
  'public-rpc-url': { kind: 'string', urlOr: [], about: 'RPC URL that answers show to clients as `rpc_endpoint`' },
  'rpc-port': {
    kind: 'integer',
    default: 8899,
    min: 0,
    max: 65534,
    about: 'Port of the embedded chain (its WebSocket is on the next); 0 takes any',
  },
  'programs-dir': {
    kind: 'string',
    about: 'Program cache of the embedded chain (default: svc/programs in the XDG cache folder)',
  },
  'priority-fee': {
    kind: 'string',
    default: 'auto',
    // Nineteen digits always fit in the 64 bits of the instruction.
    pattern: { is: /^(?:auto|none|\d{1,19})$/, about: 'auto, none or micro-lamports per compute unit in digits' },
    about: 'Priority fee of built transactions: auto (from recent fees), none, or micro-lamports per compute unit',
  },
  'priority-fee-cap': {
    kind: 'integer',
    default: 1_000_000,
    min: 0,
    about: 'Most lamports of priority fee for one transaction',
  },
  'relay-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Jito block engine that bundles go to; the embedded chain has its own',
  },
  'metadata-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'DAS provider (getAsset) that token metadata is read from',
  },
  api: { kind: 'string', about: 'URL of the daemon that commands talk to (default: the running local one, else none)' },
  'api-key-file': { kind: 'string', about: 'File (0600) with the bearer key for `api`' },
  output: {
    kind: 'string',
    default: 'table',
    choices: ['table', 'json', 'plain'],
    about: 'How answers are printed: table, json or plain',
  },
})

export type SettingName = keyof typeof SETTINGS
interface Kinds {
  string: string
  integer: number
  boolean: boolean
  list: string[]
}
type Value<S extends { kind: Kind }> = Kinds[S['kind']]
export type Values = {
  [N in SettingName]:
    | Value<(typeof SETTINGS)[N]>
    | ((typeof SETTINGS)[N] extends { default: unknown } ? never : undefined)
}

export type Origin = 'flag' | 'environment' | 'project' | 'profile' | 'solana' | 'default'

export interface Config {
  values: Values
  origins: Record<SettingName, Origin>
  /** The data folder, resolved. */
  dataDir: string
  /** The program cache, resolved. */
  programsDir: string
  production: boolean
}

/** A setting that can't be used; the command line reports it as bad input. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export const PROJECT_FILE = 'svc.json'
/** In the data folder: who answers for the running daemon, who serves the embedded chain, and the operator's key (0600). */
export const DAEMON_FILE = 'daemon.json'
export const LOCALNET_FILE = 'localnet.json'
export const OPERATOR_KEY_FILE = 'operator.key'
export const environmentName = (name: string) => `SVC_${name.toUpperCase().replace(/[.-]/g, '_')}`
export const isSetting = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name)

/** Reads `text` or a JSON value as the setting's type; throws ConfigError naming the setting and `origin`. */
export function parseSetting(name: SettingName, raw: unknown, origin: string): Values[SettingName] {
  const setting: Setting = SETTINGS[name]
  const fail = (expected: string): never => {
    const shown = setting.secret || setting.private ? '' : `, not ${JSON.stringify(raw)}`
    throw new ConfigError(`${name} (${origin}) must be ${expected}${shown}`)
  }
  if (setting.kind === 'integer') {
    const value =
      typeof raw === 'number' ? raw : typeof raw === 'string' && /^-?\d+$/.test(raw) ? Number(raw) : Number.NaN
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = setting
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      fail(
        `a whole number${setting.min === undefined ? '' : ` from ${min}`}${setting.max === undefined ? '' : ` to ${max}`}`,
      )
    }
    return value as never
  }
  if (setting.kind === 'boolean') {
    if (raw === true || raw === 'true' || raw === '1') return true as never
    if (raw === false || raw === 'false' || raw === '0') return false as never
    return fail('true or false')
  }
  if (setting.kind === 'list') {
    if (Array.isArray(raw) && raw.every((item) => typeof item === 'string')) return raw as never
    if (typeof raw === 'string') return raw.split(',').filter(Boolean) as never
    return fail('a list')
  }
  if (typeof raw !== 'string' || raw === '') return fail(setting.pattern?.about ?? 'a text')
  if (setting.pattern && !setting.pattern.is.test(raw)) return fail(setting.pattern.about)
  if (setting.choices && !setting.choices.includes(raw)) return fail(`one of ${setting.choices.join(', ')}`)
  if (setting.urlOr && !setting.urlOr.includes(raw) && !isHttpUrl(raw)) {
    return fail(`${[...setting.urlOr, ''].join(', ').replace(/, $/, ' or ')}an http or https URL`)
  }
  return raw as never
}

const isHttpUrl = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text)

export interface Sources {
  flags?: Partial<Record<SettingName, unknown>>
  env?: Record<string, string | undefined>
  cwd?: string
  /** The chosen profile's settings. */
  profile?: Record<string, unknown>
}

/** Joins the layers: flags > environment > project file > profile > default; for `url` the Solana CLI's file is the last. */
export function loadConfig({ flags = {}, env = process.env, cwd = process.cwd(), profile = {} }: Sources = {}): Config {
  const project = readProject(cwd)
  const values: Record<string, unknown> = {}
  const origins: Record<string, Origin> = {}
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const variable = environmentName(name)
    const layers: [Origin, unknown, string][] = [
      ['flag', flags[name], `--${name}`],
      ['environment', env[variable] === '' ? undefined : env[variable], variable],
      ['project', project?.settings[name], project?.file ?? ''],
      ['profile', profile[name], 'profile'],
    ]
    const found = layers.find(([, raw]) => raw !== undefined)
    origins[name] = found?.[0] ?? 'default'
    values[name] = found ? parseSetting(name, found[1], found[2]) : (SETTINGS[name] as Setting).default
  }
  if (origins.url === 'default') {
    values.url = solanaUrl(env)
    if (values.url !== undefined) origins.url = 'solana'
  }
  const typed = values as Values
  return {
    values: typed,
    origins: origins as Config['origins'],
    dataDir: resolve(cwd, typed['data-dir'] ?? join(xdg(env, 'XDG_DATA_HOME', '.local/share'), 'svc')),
    programsDir: resolve(cwd, typed['programs-dir'] ?? join(xdg(env, 'XDG_CACHE_HOME', '.cache'), 'svc', 'programs')),
    production: env.NODE_ENV === 'production',
  }
}

/** `$XDG_…_HOME`, or its default below the home folder. */
export function xdg(env: Record<string, string | undefined>, variable: string, fallback: string): string {
  const value = env[variable]
  return value?.startsWith('/') ? value : join(env.HOME || homedir(), fallback)
}

/** An RPC URL as it may be shown: RPC providers put keys into paths, queries and user names. */
export const redactUrl = (url: string) => (isHttpUrl(url) ? new URL(url).host : url)

/** A setting's value as it may be printed. */
export function shownSetting(name: SettingName, value: unknown): unknown {
  const setting: Setting = SETTINGS[name]
  if (value === undefined || value === null) return null
  if (setting.secret) return '(set, not shown)'
  return setting.private ? redactUrl(String(value)) : value
}

const SOLANA_FILE = '.config/solana/cli/config.yml'
const SOLANA_FILE_BYTES = 65_536

/** `json_rpc_url` of the Solana CLI's settings; a file that is absent or not understood counts for nothing. */
function solanaUrl(env: Record<string, string | undefined>): string | undefined {
  if (!env.HOME) return undefined
  const file = join(env.HOME, SOLANA_FILE)
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > SOLANA_FILE_BYTES) return undefined
    const line = /^json_rpc_url:[ \t]+(?:"([^"\\\n]*)"|'([^'\n]*)'|([^\s"'#]+))[ \t]*(?:#.*)?\r?$/m.exec(
      readFileSync(file, 'utf8'),
    )
    const url = line?.[1] ?? line?.[2] ?? line?.[3]
    return url !== undefined && isHttpUrl(url) ? url : undefined
  } catch {
    return undefined
  }
}

/** The nearest `svc.json` at or above `cwd`. */
function readProject(cwd: string): { file: string; settings: Record<string, unknown> } | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, PROJECT_FILE)
    if (existsSync(file)) return { file, settings: readSettingsFile(file) }
    if (dirname(folder) === folder) return undefined
  }
}

const projectSettings = () =>
  Object.entries(SETTINGS as Record<string, Setting>)
    .flatMap(([name, { secret }]) => (secret ? [] : [name]))
    .join(', ')

function readSettingsFile(file: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${file} is not readable as JSON: ${(error as Error).message}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new ConfigError(`${file} must hold a JSON object`)
  for (const name of Object.keys(parsed)) {
    if (!isSetting(name))
      throw new ConfigError(`${file} has an unknown setting: ${name}; it can hold ${projectSettings()}`)
    if ((SETTINGS[name] as Setting).secret)
      throw new ConfigError(`${file} must not hold ${name}: set ${environmentName(name)} instead`)
  }
  return parsed as Record<string, unknown>
}
