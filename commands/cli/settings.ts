/** Shows and writes the settings for `svc config`. */
import { closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type Config,
  ConfigError,
  environmentName,
  isSetting,
  PROJECT_FILE,
  parseSetting,
  SETTINGS,
  type Setting,
  type SettingName,
  shownSetting,
  xdg,
} from '../../src/settings/config.ts'
import { reason } from '../ui/files.ts'
import { ledgerLocator } from '../wallet/ledger-locator.ts'
import { isDeviceUrl } from '../wallet/names.ts'
import { changeProfiles, DEFAULT_PROFILE, profileIn, profilesFile, readProfiles } from './profiles.ts'
import type { Settings } from './session.ts'
import { terminal } from './terminal.ts'

const COMMAND_SETTINGS: readonly string[] = ['api', 'api-key-file', 'keypair', 'output']

/** Opens the settings of `svc config`; `named` is the requested profile, if any. */
export function createSettings(named: string | undefined, config: () => Promise<Config>): Settings {
  /**
   * The running daemon, which uses the old value until it restarts; null for a setting that each command reads itself.
   */
  const daemonWithOldValue = async (name: string) => {
    if (COMMAND_SETTINGS.includes(name)) return null
    // Invalid settings must not prevent the command that corrects them.
    const loaded = await config().catch(() => undefined)
    const daemon = loaded && (await import('./connection.ts')).runningDaemon(loaded)
    if (daemon === undefined) return null
    const reloads = isSetting(name) && (SETTINGS[name] as Setting).reload === true
    return { pid: daemon.pid, url: daemon.url, reloads }
  }
  const target = async () => named ?? (await readProfiles()).current
  return {
    async list() {
      const { values, origins, secretFiles, dataDir, programsDir } = await config()
      const resolved: Partial<Record<SettingName, string>> = { 'data-dir': dataDir, 'programs-dir': programsDir }
      return (Object.entries(SETTINGS) as [SettingName, Setting][]).map(([name, { about }]) => {
        const value = shownSetting(name, resolved[name] ?? values[name])
        const secretFile = secretFiles[name]
        return { name, value, origin: secretFile === undefined ? origins[name] : `file ${secretFile}`, about }
      })
    },
    async set(name, value) {
      const setting = requireSetting(name)
      if (setting.secret)
        throw new ConfigError(
          `${name} is a secret and is not written to a file: set ${environmentName(name)}, or ${environmentName(name)}_FILE to a file with it`,
        )
      const checked = parseSetting(name as SettingName, value, 'svc config set')
      const parsed = typeof checked === 'string' ? fromHere(name, setting, checked) : checked
      const profile = await target()
      const daemon = await daemonWithOldValue(name)
      const file = await changeProfiles(({ profiles }) => {
        const settings = { ...profileIn(profiles, profile), [name]: parsed }
        // The property is defined rather than assigned, because `__proto__` is a valid profile name.
        Object.defineProperty(profiles, profile, {
          value: settings,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      })
      return {
        name,
        value: shownSetting(name as SettingName, parsed),
        profile,
        file,
        daemon,
        resolved: parsed !== checked,
      }
    },
    async unset(name) {
      requireSetting(name)
      const profile = await target()
      const daemon = await daemonWithOldValue(name)
      const removed = profileIn((await readProfiles()).profiles, profile)?.[name] !== undefined
      if (removed) await changeProfiles(({ profiles }) => delete profiles[profile]?.[name])
      return { name, removed, profile, file: profilesFile(), daemon: removed ? daemon : null }
    },
    reload: async () => (await import('./daemon-reload.ts')).reloadDaemon(await config()),
    async files() {
      const { dataDir, programsDir, projectFile } = await config()
      return [
        { kind: 'profiles', path: profilesFile() },
        { kind: 'project', path: projectFile ?? join(terminal().cwd(), PROJECT_FILE) },
        { kind: 'data', path: dataDir },
        { kind: 'cache', path: join(xdg(terminal().env, 'XDG_CACHE_HOME', '.cache'), 'svc') },
        { kind: 'programs', path: programsDir },
      ].map((file) => ({ ...file, exists: existsSync(file.path) }))
    },
    async profiles() {
      const { current, profiles } = await readProfiles()
      return Object.entries({ [DEFAULT_PROFILE]: {}, ...profiles }).map(([name, settings]) => ({
        name,
        current: name === current,
        settings: Object.fromEntries(
          Object.entries(settings).map(([key, value]) => [key, shownSetting(key as SettingName, value)]),
        ),
      }))
    },
    async use(profile) {
      const { profiles } = await readProfiles()
      if (profile !== DEFAULT_PROFILE && profileIn(profiles, profile) === undefined) {
        throw new ConfigError(`there is no profile ${profile}; \`svc config set … --profile ${profile}\` makes it`)
      }
      const daemon = await daemonWithOldValue('profile')
      const file = await changeProfiles((all) => {
        all.current = profile
      })
      return { profile, file, daemon }
    },
  }
}

/** A relative path would mean another file in each folder, and for the daemon. Throws ConfigError for a missing file. */
function fromHere(name: string, { path }: Setting, value: string): string {
  if (path === 'file-or-name' && isDeviceUrl(value)) {
    ledgerLocator(value)
    return value
  }
  const isPath = path !== undefined && (path !== 'file-or-name' || /\/|\.json$/.test(value))
  if (!isPath || value === '') return value
  const file = resolve(terminal().cwd(), value)
  if (path !== 'folder') requireReadable(name, file)
  return file
}

const NOTHING_CHANGED = 'name a file that is there; nothing was changed'

function requireReadable(name: string, file: string): void {
  try {
    closeSync(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK))
    if (statSync(file).isFile()) return
  } catch (error) {
    throw new ConfigError(`${name}: ${file} cannot be read: ${reason(error)}`, NOTHING_CHANGED)
  }
  throw new ConfigError(`${name}: ${file} is not a file`, NOTHING_CHANGED)
}

function requireSetting(name: string): Setting {
  if (!isSetting(name)) throw new ConfigError(`there is no setting ${name}; \`svc config list\` shows them`)
  return SETTINGS[name]
}
