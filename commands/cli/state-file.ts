/** Keeps the state of commands between runs in small JSON files below the XDG state folder. */
import { createHash } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { FileFault, makeFolders, readOwnIfThere, writeAtomically } from '../../src/platform/files.ts'
import { xdg } from '../../src/settings/config.ts'
import { reason } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Session } from './session.ts'
import { terminal } from './terminal.ts'

/** The installation whose records a command uses: the API's URL, otherwise the data folder of this machine. */
export async function resolveSource({ settings }: Session): Promise<string> {
  const values = new Map((await settings.list()).map(({ name, value }) => [name, value]))
  return String(values.get('api') ?? values.get('data-dir'))
}

/** A proposal of many transactions has a few hundred thousand. */
const MOST_BYTES = 4_000_000

export const stateFolder = (name: string): string =>
  join(xdg(terminal().env, 'XDG_STATE_HOME', '.local/state'), 'svc', name)

/** The path of the file in the folder for `key`; a journal ends in `jsonl`. */
export function stateFile(folder: string, key: readonly unknown[], ending: 'json' | 'jsonl' = 'json'): string {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16)
  return join(stateFolder(folder), `${name}.${ending}`)
}

/** How a user gives the files of a command another place. */
export const OTHER_STATE_FOLDER = 'set XDG_STATE_HOME to a folder that can be written'

/**
 * Throws a usage problem if nothing can be stored in the folder, because a later run could then sign the same a second
 * time.
 */
export function requireStateFolder(name: string): void {
  const folder = stateFolder(name)
  try {
    makeStateFolder(name)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw usage(`signed transactions cannot be stored in ${folder}: ${reason(error)}`, { next: OTHER_STATE_FOLDER })
  }
}

/** Creates the folder for this user only (0700); throws the file system's error if that fails. */
export const makeStateFolder = (name: string): void => {
  makeFolders(stateFolder(name))
}

/**
 * The JSON of a file; undefined if there is none, or no JSON in it. Throws a usage problem for a file that others could
 * have written.
 */
export function readStateFile(file: string): unknown {
  try {
    return JSON.parse(readOwnIfThere(file, { maxBytes: MOST_BYTES }) ?? '')
  } catch (error) {
    if (!(error instanceof FileFault) || error.kind !== 'exposed') return undefined
    throw usage(`${file} ${error.what}: others could have written what an earlier run did`, {
      next: `if all of it is yours: ${error.next}; otherwise remove it`,
    })
  }
}

/** Replaces the file atomically (0600); it is on disk when this returns. */
export function writeStateFile(file: string, value: unknown): void {
  makeFolders(dirname(file))
  writeAtomically(file, `${JSON.stringify(value)}\n`, { syncFolder: true })
}
