/** Stores what a command has checked or made here, so that a later one can rely on it instead of the API. */
import type { Session } from '../cli/session.ts'
import { readStateFile, stateFile, writeStateFile } from '../cli/state-file.ts'

type Remembered = 'tree' | 'shared-config'
const fileOf = (kind: Remembered, of: string) => stateFile('remembered', [kind, of])

/** Writes it to the state folder of this user. If that fails, svc warns and continues. */
export function rememberHere({ ui }: Pick<Session, 'ui'>, kind: Remembered, of: string, value: string): void {
  try {
    writeStateFile(fileOf(kind, of), { kind, of, value })
  } catch (error) {
    ui.warn(`${of} is not remembered on this machine: ${(error as Error).message}`)
  }
}

/** Null if this machine has not stored it. Throws a usage problem if others could have written it. */
export function recall(kind: Remembered, of: string): string | null {
  const { value } = Object(readStateFile(fileOf(kind, of))) as { value?: unknown }
  return typeof value === 'string' ? value : null
}
