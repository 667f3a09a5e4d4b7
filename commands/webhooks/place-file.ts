/** The place up to which `svc webhooks listen` is done, in a file that outlives it. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { xdg } from '../../src/config.ts'
import type { Place } from '../events/follow.ts'
import { reason } from '../ui/files.ts'
import { failure } from '../ui/problem.ts'

/** Below the XDG state folder; one place for each API (or data folder) and target. */
export function placeFile(source: string, target: string | null): string {
  const name = createHash('sha256')
    .update(JSON.stringify([source, target]))
    .digest('hex')
    .slice(0, 16)
  return join(xdg(process.env, 'XDG_STATE_HOME', '.local/state'), 'svc', 'listen', `${name}.json`)
}

/** Null where nothing was kept yet. */
export function readPlace(file: string): Place | null {
  if (!existsSync(file)) return null
  try {
    const { sequence, cursor } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    if (Number.isSafeInteger(sequence) && (sequence as number) >= 0 && ['undefined', 'string'].includes(typeof cursor))
      return { sequence: sequence as number, cursor: cursor as string | undefined }
  } catch {}
  throw failure(`${file} does not tell where to go on`, { next: 'say it with --from: a sequence, now or start' })
}

/** Replaces the file in one step, so that a crash leaves the place before or the place after. */
export function writePlace(file: string, place: Place): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const next = `${file}.${process.pid}`
    writeFileSync(next, `${JSON.stringify(place)}\n`, { mode: 0o600 })
    renameSync(next, file)
  } catch (error) {
    throw failure(`the place cannot be kept in ${file}: ${reason(error)}`, { next: 'choose another with --state-file' })
  }
}
