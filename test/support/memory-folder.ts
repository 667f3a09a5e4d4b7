/** Keeps the files of a run in memory where the machine has room for them: the quick tests wait for no disk. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files in memory, where Linux has them. */
const MEMORY_FOLDER = '/dev/shm'
const NEEDED_BYTES = 6 * 1024 ** 3

/** A TMPDIR that is set stays as it is. The soak, where processes are killed while they write, stays on the disk. */
export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return undefined
  process.env.TMPDIR = MEMORY_FOLDER
  return () => void delete process.env.TMPDIR
}

/** Containers often give it a few megabytes or let no program be started from it; its size promises no free memory. */
function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES && startsPrograms()
  } catch {
    return false
  }
}

function startsPrograms(): boolean {
  const folder = mkdtempSync(join(MEMORY_FOLDER, 'svc-try-'))
  try {
    const script = join(folder, 'try')
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 })
    return spawnSync(script).status === 0
  } finally {
    rmSync(folder, { recursive: true })
  }
}
