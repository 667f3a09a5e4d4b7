/**
 * Effective settings: the value of every layer, the layer that takes precedence, and the values that may be printed.
 */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../platform/errors.ts'
import { parseUrl } from '../platform/urls.ts'
import { parseEndpoints } from './endpoint-settings.ts'
import { PROJECT_FILE, readProject } from './project-file.ts'
import { parseReceivers } from './receiver-settings.ts'
import { readSecretFile } from './secret-files.ts'
import type { RpcEndpoint, Setting } from './setting.ts'
import { environmentName, fileVariable, isSetting, SETTINGS, type SettingName, type Values } from './settings.ts'

export {
  ConfigError,
  environmentName,
  fileVariable,
  isSetting,
  PROJECT_FILE,
  type RpcEndpoint,
  readSecretFile,
  SETTINGS,
  type Setting,
  type SettingName,
  type Values,
}

/** `file` belongs to the environment too: a `SVC_…_FILE` variable that names a file with the value. */
export type Origin = 'flag' | 'environment' | 'file' | 'project' | 'profile' | 'solana' | 'default'

export interface Config {
  values: Values
  origins: Record<SettingName, Origin>
  /** Path of the file that each setting of the origin `file` was read from. */
  secretFiles: Partial<Record<SettingName, string>>
  /** Variables that are set to an empty text, which counts as not set. */
  emptyVariables: readonly string[]
  /** Absolute path of the data folder. */
  dataDir: string
  /** Absolute path of the program cache. */
  programsDir: string
  production: boolean
  /** Test-only file with the number of milliseconds by which the service's clock is ahead of the system clock. */
  clockFile: string | undefined
  /** Path of the svc.json that applies; undefined when there is none. */
  projectFile: string | undefined
}

/** File in the data folder that identifies the running daemon. */
export const DAEMON_FILE = 'daemon.json'
/** Makes the running daemon reload its settings, whether or not it has a terminal. */
export const RELOAD_SIGNAL = 'SIGUSR2'
/** What the last reload did, in the daemon's file; `error` if it changed nothing. */
export interface Reloaded {
  /** Random, so that a reader tells one reload from another. */
  id: string
  applied: string[]
  needs_restart: string[]
  error: string | null
}
/** Names the process that serves the embedded chain, and its URLs. */
export const LOCALNET_FILE = 'localnet.json'
export const OPERATOR_KEY_FILE = 'operator.key'
export const ENCRYPTION_KEY_FILE = 'encryption.key'
/** SQLite database that the running daemon keeps locked. */
export const DATABASE_FILE = 'svc.db'
/** Journal of the embedded chain. */
export const CHAIN_FILE = 'chain.db'
/** File in the data folder while a restore replaces files; the next process that opens the database completes it. */
export const RESTORE_FILE = 'restore.json'

const MAX_SHOWN_LENGTH = 64

/**
 * Parses a text or a JSON value as the setting's type. Throws ConfigError naming the setting and `origin`.
 *
 * @example
 * parseSetting('port', '8787', 'SVC_PORT') // 8787
 * parseSetting('port', 'http', 'SVC_PORT') // port (SVC_PORT) must be a whole number from 0 to 65535, not "http"
 */
export function parseSetting(name: SettingName, raw: unknown, origin: string): Values[SettingName] {
  const setting: Setting = SETTINGS[name]
  if (setting.kind === 'endpoints') return parseEndpoints(name, raw, origin) as never
  if (setting.kind === 'receivers') return parseReceivers(name, raw, origin) as never
  const fail = (expected: string): never => {
    // Long values are not repeated in the message, because they may be a key that was pasted into the wrong setting.
    const text = JSON.stringify(raw)
    const shown = setting.secret || setting.private || text.length > MAX_SHOWN_LENGTH ? '' : `, not ${text}`
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
    const items = typeof raw === 'string' ? raw.split(',').filter(Boolean) : raw
    if (!Array.isArray(items) || !items.every((item) => typeof item === 'string')) return fail('a list')
    const { pattern } = setting
    if (pattern && !items.every((item) => pattern.is.test(item))) {
      return fail(`a list of ${pattern.about}`)
    }
    return items as never
  }
  if (typeof raw !== 'string' || raw === '') return fail(setting.pattern?.about ?? 'a text')
  if (setting.pattern && !setting.pattern.is.test(raw)) return fail(setting.pattern.about)
  if (setting.choices && !setting.choices.includes(raw)) return fail(`one of ${setting.choices.join(', ')}`)
  if (setting.urlOr && !setting.urlOr.includes(raw) && !isHttpUrl(raw)) {
    return fail(`${[...setting.urlOr, ''].join(', ').replace(/, $/, ' or ')}an http or https URL`)
  }
  return raw as never
}

const isHttpUrl = (text: string) => /^https?:\/\//.test(text) && parseUrl(text) !== undefined

interface Sources {
  flags?: Partial<Record<SettingName, unknown>>
  env?: Record<string, string | undefined>
  cwd?: string
  /** Settings of the selected profile. */
  profile?: Record<string, unknown>
  /** Accepts a project file that belongs to another user. */
  trustProject?: boolean
}

/**
 * Merges the layers: flags > environment > project file > profile > default. For `url`, the Solana CLI's file comes
 * last.
 *
 * @example
 * const { values, origins } = loadConfig({ flags: { port: '9000' } })
 * values.port // 9000
 * origins.port // 'flag'
 */
export function loadConfig(sources: Sources = {}): Config {
  const { flags = {}, env = process.env, cwd = process.cwd(), profile = {}, trustProject = false } = sources
  const project = readProject(cwd, homeFolder(env), trustProject)
  const values: Record<string, unknown> = {}
  const origins: Record<string, Origin> = {}
  const secretFiles: Config['secretFiles'] = {}
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const secretFile = flags[name] === undefined ? secretFileOf(name, env) : undefined
    if (secretFile !== undefined) secretFiles[name] = secretFile.file
    const variable = environmentName(name)
    const layers: [Origin, unknown, string][] = [
      ['flag', flags[name], `--${name}`],
      ['environment', env[variable] === '' ? undefined : env[variable], variable],
      ['file', secretFile?.value, `${secretFile?.variable} names ${secretFile?.file}`],
      ['project', project?.settings[name], project?.file ?? ''],
      ['profile', profile[name], 'profile'],
    ]
    const layer = layers.find(([, raw]) => raw !== undefined)
    origins[name] = layer?.[0] ?? 'default'
    values[name] = layer ? parseSetting(name, layer[1], layer[2]) : (SETTINGS[name] as Setting).default
  }
  if (origins.url === 'default') {
    values.url = solanaUrl(env)
    if (values.url !== undefined) origins.url = 'solana'
  }
  // `sqlite` is the file in the data folder, as without a value; the word shows that no URL was lost.
  if (values['database-url'] === 'sqlite') values['database-url'] = undefined
  const typed = values as Values
  settleCluster(typed, origins as Config['origins'])
  return {
    values: typed,
    origins: origins as Config['origins'],
    secretFiles,
    emptyVariables: Object.keys(env).filter((name) => name.startsWith('SVC_') && env[name] === ''),
    dataDir: resolve(cwd, typed['data-dir'] ?? join(xdg(env, 'XDG_DATA_HOME', '.local/share'), 'svc')),
    programsDir: resolve(cwd, typed['programs-dir'] ?? join(xdg(env, 'XDG_CACHE_HOME', '.cache'), 'svc', 'programs')),
    production: env.NODE_ENV === 'production',
    clockFile: (env.NODE_ENV === 'test' && env.SVC_TEST_CLOCK_FILE) || undefined,
    projectFile: project?.file,
  }
}

/** Where the Solana CLI keeps its settings, below the home folder. */
const SOLANA_FILE = '.config/solana/cli/config.yml'

/** Precedence of the layers; a file named by the environment counts as the environment. */
const RANKS: Record<Origin, number> = {
  flag: 0,
  environment: 1,
  file: 1,
  project: 2,
  profile: 3,
  solana: 4,
  default: 5,
}
/** Where the nodes come from: the flag, variable, file or setting that names them. */
export function nodesSource({ values, origins }: Pick<Config, 'values' | 'origins'>): string {
  const name = values['rpc-urls'] === undefined ? 'url' : 'rpc-urls'
  const variable = environmentName(name)
  const words: Record<Origin, string> = {
    flag: `--${name}`,
    environment: variable,
    file: `${variable}_FILE`,
    project: `${name} in ${PROJECT_FILE}`,
    profile: `the setting ${name} of your profile`,
    solana: `the Solana CLI's configuration (~/${SOLANA_FILE})`,
    default: 'the default',
  }
  return words[origins[name]]
}

/**
 * Where the nodes come from if no flag, variable or setting of svc names them; null if one does. The embedded chain
 * needs no choice.
 */
export const unchosenNodes = (config: Pick<Config, 'values' | 'origins'>): string | null =>
  config.values['rpc-urls'] === undefined && config.origins.url === 'solana' ? nodesSource(config) : null

const PUBLIC_CLUSTERS = ['mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't']

/**
 * Decides whether `url` or `rpc-urls` names the nodes: the stronger layer wins. A public cluster's name in `url` is the
 * cluster that `rpc-urls` must belong to. Throws ConfigError if both are set in one layer and contradict each other.
 */
function settleCluster(values: Values, origins: Config['origins']): void {
  if (values['rpc-urls'] === undefined) return
  const [one, several] = [RANKS[origins.url], RANKS[origins['rpc-urls']]]
  if (one < several) {
    values['rpc-urls'] = undefined
    origins['rpc-urls'] = 'default'
  } else if (values.url === undefined || !PUBLIC_CLUSTERS.includes(values.url)) {
    if (one === several) {
      throw new ConfigError(
        'url and rpc-urls are both set, and name different nodes',
        'leave one of them out, or let url be the name of the cluster: mainnet-beta, devnet or testnet',
      )
    }
    values.url = undefined
    origins.url = 'default'
  }
}

/**
 * Reads the files of secrets again whose names begin with `prefix`, and returns the names of those that have another
 * value now, which `config` then has. A file that cannot be read, or has no valid value, changes nothing: it may be
 * half written.
 */
export function renewSecrets({ values, secretFiles }: Config, prefix: string): SettingName[] {
  const files = Object.entries(secretFiles) as [SettingName, string][]
  return files.flatMap(([name, file]) => {
    if (!name.startsWith(prefix)) return []
    try {
      const variable = `${environmentName(name)}_FILE`
      const value = parseSetting(name, readSecretFile(variable, file), variable)
      if (isDeepStrictEqual(value, values[name])) return []
      Object.assign(values, { [name]: value })
      return [name]
    } catch (error) {
      if (error instanceof ConfigError) return []
      throw error
    }
  })
}

/**
 * Reads the file that a `SVC_…_FILE` variable names; undefined if the variable is not set. Throws ConfigError if the
 * value is set as well, and if the setting takes no file.
 */
function secretFileOf(
  name: SettingName,
  env: NonNullable<Sources['env']>,
): { variable: string; file: string; value: string } | undefined {
  const plain = environmentName(name)
  const variable = `${plain}_FILE`
  const file = env[variable]
  if (file === undefined || file === '') return undefined
  if (fileVariable(name) === undefined) {
    // Variables such as SVC_API_KEY_FILE are settings themselves.
    if (SETTING_VARIABLES.has(variable)) return undefined
    throw new ConfigError(
      `${variable} is not read, because ${name} is not a secret`,
      `set ${plain} to the value itself`,
    )
  }
  if (env[plain] !== undefined && env[plain] !== '') {
    throw new ConfigError(`${plain} and ${variable} are both set`, 'leave one of them out')
  }
  return { variable, file, value: readSecretFile(variable, file) }
}

const SETTING_VARIABLES: ReadonlySet<string> = new Set(Object.keys(SETTINGS).map(environmentName))

/** How to fix a missing setting: the variable to set, or the variable that is empty. */
export function howToSet({ emptyVariables }: Pick<Config, 'emptyVariables'>, name: SettingName): string {
  const variable = environmentName(name)
  const empty = [variable, `${variable}_FILE`].find((each) => emptyVariables.includes(each))
  return empty === undefined ? `set ${variable}` : `${empty} is set but empty: give it a value`
}

/** Returns `$HOME`, or the folder that the system has for this user; a container's user may have neither. */
export function homeFolder(env: Record<string, string | undefined>): string {
  if (env.HOME) return env.HOME
  try {
    return homedir()
  } catch {
    throw new ConfigError('HOME is not set, and the system has no home folder for this user', 'set HOME to a folder')
  }
}

/** Returns `$XDG_…_HOME`, or its default below the home folder. */
export function xdg(env: Record<string, string | undefined>, variable: string, fallback: string): string {
  const value = env[variable]
  return value?.startsWith('/') ? value : join(homeFolder(env), fallback)
}

/**
 * Returns the printable form of an RPC URL. Only the host is printed, because providers put keys into paths, queries
 * and user names.
 */
export const redactUrl = (url: string) => (isHttpUrl(url) ? new URL(url).host : url)

/** Returns the printable form of a setting's value. */
export function shownSetting(name: SettingName, value: unknown): unknown {
  const setting: Setting = SETTINGS[name]
  if (value === undefined || value === null) return null
  if (setting.secret) return '(set, not shown)'
  if (setting.kind === 'endpoints') return shownEndpoints(value)
  if (setting.kind === 'receivers') return shownReceivers(value)
  return setting.private ? redactUrl(String(value)) : value
}

/** Hosts of the endpoints with their weights; an invalid value is not shown. */
function shownEndpoints(value: unknown): unknown {
  try {
    return parseEndpoints('', value, '').map(
      ({ url, weight }) => `${redactUrl(url)}${weight === 1 ? '' : ` x${weight}`}`,
    )
  } catch {
    return '(not readable)'
  }
}

/** Hosts of the receivers with their forms and kinds; an invalid value is not shown. */
function shownReceivers(value: unknown): unknown {
  try {
    return parseReceivers('', value, '').map(({ form, url, kinds }) => {
      const place = form === 'signed' ? redactUrl(url) : `${form}:${redactUrl(url)}`
      return kinds === null ? place : `${place} (${kinds.join(', ')})`
    })
  } catch {
    return '(not readable)'
  }
}

const SOLANA_FILE_BYTES = 65_536

/** Reads `json_rpc_url` from the Solana CLI's settings. A missing or unparsable file is ignored. */
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

/** The public address of this service without a slash at its end; undefined if the settings name none. */
export const publicRoot = ({ values }: Pick<Config, 'values'>): string | undefined =>
  values['public-url']?.replace(/\/+$/, '')

/** The file, or host and name of the database on PostgreSQL, without credentials. */
export function databasePlace({ dataDir, values }: Config): string {
  const url = values['database-url']
  if (url === undefined) return join(dataDir, DATABASE_FILE)
  const parsed = parseUrl(url)
  return parsed === undefined ? 'SVC_DATABASE_URL' : `${parsed.host}${parsed.pathname}`
}
