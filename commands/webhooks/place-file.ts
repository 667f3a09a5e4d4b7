/** Stores the position up to which `svc webhooks listen` has forwarded, so that the next run continues there. */
import { existsSync } from 'node:fs'
import { readStateFile, stateFile, writeStateFile } from '../cli/state-file.ts'
import type { EventPosition } from '../events/follow.ts'
import { reason } from '../ui/files.ts'
import { failure } from '../ui/problem.ts'

/** The path of the file below the XDG state folder, one for each API (or data folder) and target. */
export const positionFile = (source: string, target: string | null): string => stateFile('listen', [source, target])

/** The stored position; null if no run has written one. */
export function readPosition(file: string): EventPosition | null {
  if (!existsSync(file)) return null
  const { sequence, cursor } = Object(readStateFile(file)) as Record<string, unknown>
  if (Number.isSafeInteger(sequence) && (sequence as number) >= 0 && ['undefined', 'string'].includes(typeof cursor))
    return { sequence: sequence as number, cursor: cursor as string | undefined }
  throw failure(`${file} does not say where to continue`, { next: 'say where with --from: a sequence, now or start' })
}

/** Replaces the file atomically, so that a crash leaves the old position or the new one. */
export function writePosition(file: string, position: EventPosition): void {
  try {
    writeStateFile(file, position)
  } catch (error) {
    throw failure(`the position cannot be stored in ${file}: ${reason(error)}`, {
      next: 'choose another with --state-file',
    })
  }
}
