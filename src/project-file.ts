/** A folder's own settings, `svc.json`: where it is looked for, whose it must be, and what it may set. */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from './errors.ts'
import { FileFault, readOwn } from './files.ts'
import { environmentName, isSetting, SETTINGS, type Setting, type SettingName } from './settings.ts'

export const PROJECT_FILE = 'svc.json'
export const TRUST_FLAG = '--trust-project'

export interface Project {
  file: string
  settings: Record<string, unknown>
}

/** The nearest `svc.json` that is looked for. Throws ConfigError for one that cannot be trusted, read or obeyed. */
export function readProject(cwd: string, home: string, trusted: boolean): Project | undefined {
  const file = searched(resolve(cwd), home)
    .map((folder) => join(folder, PROJECT_FILE))
    .find(isInFolder)
  return file === undefined ? undefined : { file, settings: settingsIn(file, projectText(file, trusted)) }
}

/** The working folder and those above it, up to the edge of its repository or the home; where neither is above, it alone. */
function searched(cwd: string, home: string): string[] {
  const edge = realPath(home)
  const folders: string[] = []
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    // At the root everybody else's folders begin, even where it is somebody's home.
    if (dirname(folder) === folder) return [cwd]
    folders.push(folder)
    if (folder === edge || isInFolder(join(folder, '.git'))) return folders
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Also a link that leads nowhere: it is refused, not passed over. */
function isInFolder(file: string): boolean {
  try {
    lstatSync(file)
    return true
  } catch {
    return false
  }
}

function projectText(file: string, trusted: boolean): string {
  try {
    return readOwn(file, { folder: 'own', trusted })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { kind, said, next } = error
    // What a link leads to was not written for this folder, whoever owns it.
    const canTrust = kind === 'exposed' && !lstatSync(file).isSymbolicLink()
    const trust = canTrust ? `, or take its settings for this one command with ${TRUST_FLAG}` : ''
    throw new ConfigError(said, `${next}${trust}`)
  }
}

function settingsIn(file: string, text: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${file} is not readable as JSON: ${(error as Error).message}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new ConfigError(`${file} must hold a JSON object`)
  for (const [name, value] of Object.entries(parsed)) {
    if (!isSetting(name)) throw new ConfigError(`${file} has an unknown setting: ${name}; it can hold ${allowed()}`)
    refuseProject(file, name, value)
  }
  return parsed as Record<string, unknown>
}

function refuseProject(file: string, name: SettingName, value: unknown): void {
  const { project, projectWords, secret, urlOr = [] }: Setting = SETTINGS[name]
  const own = secret ? '' : `, or run \`svc config set ${name} …\``
  const wayOut = `set ${environmentName(name)} instead${own}`
  if (project !== true) throw new ConfigError(`${file} must not hold ${name}: ${project}`, wayOut)
  if (projectWords !== undefined && !urlOr.includes(value as string)) {
    const words = urlOr.join(', ')
    throw new ConfigError(`${name} (${file}) must be one of ${words}, no URL: ${projectWords}`, wayOut)
  }
}

const allowed = () =>
  Object.entries(SETTINGS as Record<string, Setting>)
    .flatMap(([name, { project }]) => (project === true ? [name] : []))
    .join(', ')
