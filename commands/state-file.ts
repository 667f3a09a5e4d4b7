/** What a command remembers from one run to the next: small JSON files below the XDG state folder. */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { xdg } from '../src/config.ts'
import { writeAtomically } from '../src/files.ts'
import type { Session } from './session.ts'
import { terminal } from './terminal.ts'

/** Whose records a command works on: the API's URL, else the data folder of this machine. */
export async function sourceOf({ settings }: Session): Promise<string> {
  const values = new Map((await settings.list()).map(({ name, value }) => [name, value]))
  return String(values.get('api') ?? values.get('data-dir'))
}

export const stateFolder = (name: string): string =>
  join(xdg(terminal().env, 'XDG_STATE_HOME', '.local/state'), 'svc', name)

/** One file of the folder for each `key`. */
export function stateFile(folder: string, key: readonly unknown[]): string {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16)
  return join(stateFolder(folder), `${name}.json`)
}

/** For this user alone (0700); throws what the file system says where it cannot be made. */
export const makeStateFolder = (name: string): void => {
  mkdirSync(stateFolder(name), { recursive: true, mode: 0o700 })
}

/** Replaces the file in one step (0600), so that a crash leaves what was before or what is after. */
export function writeStateFile(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeAtomically(file, `${JSON.stringify(value)}\n`)
}
