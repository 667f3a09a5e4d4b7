/** Before and after a test run: gives it a temporary folder of its own, and fails it when a process or a file is left there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildSync } from 'esbuild'
import { offerPostgres } from '../store/postgres-server.ts'
import { clear, entriesOf, processesNaming, SHARED_FOLDER, startOf } from './leftovers.ts'

/** With the id of the run's process and the moment it began, so that the next run knows a dead one's. */
const PREFIX = 'svc-run-'
/** How long a process may take to end after the last test. */
const END_MS = 5_000

export default async function setup(): Promise<() => Promise<void>> {
  await clearDeadRuns(tmpdir())
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${startOf(process.pid) ?? 0}-`))
  // PostgreSQL runs as another user and must reach its own folder below.
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, SHARED_FOLDER))
  const reaper = startReaper(folder)
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  const postgres = await offerPostgres(folder)
  return async () => {
    await postgres.close()
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    const processes = await processesLeft(folder)
    const files = entriesOf(folder).filter((name) => !isExpected(name))
    reaper.kill('SIGKILL')
    await clear(folder)
    const left = [...processes.map(({ pid, command }) => `process ${pid} (${command})`), ...files]
    if (left.length === 0) return
    // Vitest prints what a last step throws, and ends well all the same.
    process.exitCode = 1
    throw new Error(`the test run left behind: ${left.join(', ')}`)
  }
}

/** Processes that the tests started; the runner's own children are its workers. */
async function processesLeft(folder: string) {
  for (const deadline = Date.now() + END_MS; ; await pause(50)) {
    const processes = processesNaming(folder).filter(({ parent }) => parent !== process.pid)
    if (processes.length === 0 || Date.now() > deadline) return processes
  }
}

const REAPER_FILE = 'reaper.mjs'

/** What the run itself made; tsx keeps compiled files below the temporary folder, for its next start. */
const isExpected = (name: string) => [REAPER_FILE, SHARED_FOLDER].includes(name) || /^tsx-\d+$/.test(name)

function startReaper(folder: string): ChildProcess {
  const script = join(folder, REAPER_FILE)
  const source = join(import.meta.dirname, 'reaper.ts')
  buildSync({ entryPoints: [source], outfile: script, bundle: true, platform: 'node', format: 'esm' })
  // In a process group of its own: Ctrl-C in the terminal must not reach it.
  const reaper = spawn(process.execPath, [script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.unref()
  return reaper
}

/** Folders of runs whose reaper ended with them, as when the machine stopped. */
async function clearDeadRuns(parent: string): Promise<void> {
  for (const name of entriesOf(parent)) {
    const [, pid, start] = /^svc-run-(\d+)-(\d+)-/.exec(name) ?? []
    if (pid !== undefined && (startOf(Number(pid)) ?? (isAlive(Number(pid)) ? '0' : '')) !== start)
      await clear(join(parent, name))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
