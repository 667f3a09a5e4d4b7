/** A named pipe whose ends are both open, as between a program and the reader of its log. */
import { execFileSync } from 'node:child_process'
import { constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './service.ts'

/** Both ends of a named pipe, which holds 64 KiB. */
export function openPipe(): { readEnd: number; writeEnd: number } {
  const file = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [file])
  const readEnd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  return { readEnd, writeEnd: openSync(file, constants.O_WRONLY) }
}
