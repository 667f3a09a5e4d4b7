/**
 * Reads a folder's own settings from `svc.json`: where it is searched, who must own it, and which settings it may
 * contain.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../platform/errors.ts'
import { FileFault, readOwn } from '../platform/files.ts'
import type { Setting } from './setting.ts'
import { environmentName, isSetting, SETTINGS, type SettingName } from './settings.ts'

export const PROJECT_FILE = 'svc.json'
const TRUST_FLAG = '--trust-project'

export interface Project {
  file: string
  settings: Record<string, unknown>
}

/** Finds and reads the nearest `svc.json`. Throws ConfigError when it cannot be trusted, read or applied. */
export function readProject(cwd: string, home: string, trusted: boolean): Project | undefined {
  const file = searched(resolve(cwd), home)
    .map((folder) => join(folder, PROJECT_FILE))
    .find(isInFolder)
  return file === undefined ? undefined : { file, settings: settingsIn(file, projectText(file, trusted)) }
}

/**
 * Lists the working folder and its parents up to the repository root or the home folder; without either, only the
 * working folder.
 */
function searched(cwd: string, home: string): string[] {
  const edge = realPath(home)
  const folders: string[] = []
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    // The search never covers the root folder, even when it is a home folder, because other users' folders are below
    // it.
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

/** A dangling symbolic link counts as present, so that it is rejected instead of being ignored. */
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
    const { kind, problem, next } = error
    // A symbolic link cannot be trusted, because its target was not written for this folder, regardless of its owner.
    const canTrust = kind === 'exposed' && !lstatSync(file).isSymbolicLink()
    const trust = canTrust ? `, or use its settings for this one command with ${TRUST_FLAG}` : ''
    throw new ConfigError(problem, `${next}${trust}`)
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
    throw new ConfigError(`${file} must contain a JSON object`)
  for (const [name, value] of Object.entries(parsed)) {
    if (!isSetting(name)) throw new ConfigError(`${file} has an unknown setting: ${name}; it can contain ${allowed()}`)
    refuseProject(file, name, value)
  }
  return parsed as Record<string, unknown>
}

function refuseProject(file: string, name: SettingName, value: unknown): void {
  const { project, projectChoicesReason, secret, urlOr = [] }: Setting = SETTINGS[name]
  const own = secret ? '' : `, or run \`svc config set ${name} …\``
  const wayOut = `set ${environmentName(name)} instead${own}`
  if (project !== true) throw new ConfigError(`${file} must not contain ${name}: ${project}`, wayOut)
  if (projectChoicesReason !== undefined && !urlOr.includes(value as string)) {
    const choices = urlOr.join(', ')
    throw new ConfigError(`${name} (${file}) must be one of ${choices}, not a URL: ${projectChoicesReason}`, wayOut)
  }
}

const allowed = () =>
  Object.entries(SETTINGS as Record<string, Setting>)
    .flatMap(([name, { project }]) => (project === true ? [name] : []))
    .join(', ')
