/** Settings as they are in force: what each layer says, which one wins, and what may be shown of it. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { ConfigError } from './errors.ts'
import { PROJECT_FILE, readProject } from './project-file.ts'
import { environmentName, isSetting, SETTINGS, type Setting, type SettingName, type Values } from './settings.ts'

export { ConfigError, environmentName, isSetting, PROJECT_FILE, SETTINGS, type Setting, type SettingName, type Values }

export type Origin = 'flag' | 'environment' | 'project' | 'profile' | 'solana' | 'default'

export interface Config {
  values: Values
  origins: Record<SettingName, Origin>
  /** The data folder, resolved. */
  dataDir: string
  /** The program cache, resolved. */
  programsDir: string
  production: boolean
  /** For tests of long waits: says how many milliseconds the clock is ahead of the machine's. */
  clockFile: string | undefined
  /** The svc.json that applies, if any. */
  projectFile: string | undefined
}

/** In the data folder: who answers for the running daemon, who serves the embedded chain, and the operator's key (0600). */
export const DAEMON_FILE = 'daemon.json'
/** A database that the running daemon locks. */
export const DAEMON_LOCK_FILE = 'daemon.lock'
export const LOCALNET_FILE = 'localnet.json'
export const OPERATOR_KEY_FILE = 'operator.key'
export const ENCRYPTION_KEY_FILE = 'encryption.key'
export const DATABASE_FILE = 'svc.db'

const LONGEST_SHOWN = 64

/** Reads `text` or a JSON value as the setting's type; throws ConfigError naming the setting and `origin`. */
export function parseSetting(name: SettingName, raw: unknown, origin: string): Values[SettingName] {
  const setting: Setting = SETTINGS[name]
  const fail = (expected: string): never => {
    // A key pasted into the wrong setting is longer than what is worth repeating.
    const said = JSON.stringify(raw)
    const shown = setting.secret || setting.private || said.length > LONGEST_SHOWN ? '' : `, not ${said}`
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

const isHttpUrl = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text)

export interface Sources {
  flags?: Partial<Record<SettingName, unknown>>
  env?: Record<string, string | undefined>
  cwd?: string
  /** The chosen profile's settings. */
  profile?: Record<string, unknown>
  /** Takes the project file of another owner, too. */
  trustProject?: boolean
}

/** Joins the layers: flags > environment > project file > profile > default; for `url` the Solana CLI's file is the last. */
export function loadConfig(sources: Sources = {}): Config {
  const { flags = {}, env = process.env, cwd = process.cwd(), profile = {}, trustProject = false } = sources
  const project = readProject(cwd, env.HOME || homedir(), trustProject)
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
    clockFile: env.NODE_ENV === 'test' ? env.SVC_TEST_CLOCK_FILE : undefined,
    projectFile: project?.file,
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
