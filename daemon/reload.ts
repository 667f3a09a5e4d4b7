/** Applies changed settings to a running daemon, if they may change at run time. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type Config,
  databasePlace,
  type Reloaded,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../src/settings/config.ts'
import type { DaemonLog } from './log.ts'

interface ReloadOptions {
  /** The settings of the daemon; every part reads them from this object at each use. */
  config: Config
  /** Reads every layer of the settings again. Throws what `loadConfig` throws. */
  load: () => Promise<Config>
  log: DaemonLog
  /** Passes the new values to parts with their own copy: the log, the listener. */
  apply: (values: Config['values']) => void
}

/** Returns a function that reloads; runs never overlap. If a setting is invalid, all settings stay unchanged. */
export function createReload(options: ReloadOptions): () => Promise<Reloaded> {
  let latest: Promise<unknown> = Promise.resolve()
  return () => {
    const reloaded = latest.then(() => reload(options))
    latest = reloaded
    return reloaded
  }
}

async function reload({ config, load, log, apply }: ReloadOptions): Promise<Reloaded> {
  const id = randomUUID()
  let next: Config
  try {
    next = await load()
  } catch (error) {
    log.error({ err: error }, 'the settings were not reloaded; the earlier ones stay in force')
    return { id, applied: [], needs_restart: [], error: (error as Error).message }
  }
  const names = Object.keys(SETTINGS) as SettingName[]
  const changed = names.filter((name) => !isDeepStrictEqual(config.values[name], next.values[name]))
  const applied = changed.filter((name) => (SETTINGS[name] as Setting).reload === true || isRenewed(name, config, next))
  const needsRestart = changed.filter((name) => !applied.includes(name))
  const tell = () => log.info({ applied, needs_restart: needsRestart }, 'settings reloaded')
  // The line is written before the change if the earlier level shows it, otherwise after it.
  const isShown = log.isLevelEnabled('info')
  if (isShown) tell()
  for (const name of applied) {
    Object.assign(config.values, { [name]: next.values[name] })
    config.origins[name] = next.origins[name]
  }
  apply(config.values)
  if (!isShown) tell()
  return { id, applied, needs_restart: needsRestart, error: null }
}

/** Secrets from files that signer and bucket take up while the process runs, and the database's user and password. */
const isRenewed = (name: SettingName, before: Config, after: Config) =>
  before.secretFiles[name] !== undefined &&
  (/^(?:signer|s3)\./.test(name) || (name === 'database-url' && databasePlace(before) === databasePlace(after)))
