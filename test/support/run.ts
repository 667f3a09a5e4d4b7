/** Before and after a test run: gives it a temporary folder of its own, and fails it when a process or a file is left there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { offerPostgres } from '../store/postgres-server.ts'
import { bundle } from './bundle.ts'
import { clear, entriesOf, PID_NAMESPACE, processesNaming, SHARED_FOLDER, startOf } from './leftovers.ts'

/** With the id of the run's process, the moment it began and the namespace of both, so that the next run knows a dead one's. */
const PREFIX = 'svc-run-'
/** How long a process may take to end after the last test; shorter in a run that is known to leave one. */
const END_MS = Number(process.env.SVC_TEST_END_MS || 60_000)

export default async function setup(): Promise<() => Promise<void>> {
  const name = `${PREFIX}${process.pid}-${startOf(process.pid) ?? 0}-${PID_NAMESPACE}-`
  // Each project of a run asks for it, and they share one.
  if (basename(tmpdir()).startsWith(name)) return async () => undefined
  await clearDeadRuns(tmpdir())
  const folder = mkdtempSync(join(tmpdir(), name))
  // PostgreSQL runs as another user and must reach its own folder below.
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, SHARED_FOLDER))
  const reaper = await startReaper(folder)
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  const postgres = await offerPostgres()
  return async () => {
    await postgres.close()
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    const processes = await processesLeft(folder)
    const files = entriesOf(folder).filter((name) => !isExpected(name))
    const left = [...processes.map(({ pid, command }) => `process ${pid} (${command})`), ...files]
    // Vitest prints what a last step throws, and ends well all the same.
    if (left.length > 0) process.exitCode = 1
    // The reaper goes last: it clears the folder where this process is killed here.
    await clear(folder, reaper.pid)
    reaper.kill('SIGKILL')
    if (left.length > 0) throw new Error(`the test run left behind: ${left.join(', ')}`)
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

/** What the run itself made; tsx and Node.js keep compiled files below the temporary folder, for their next start. */
const isExpected = (name: string) =>
  [REAPER_FILE, SHARED_FOLDER, 'node-compile-cache'].includes(name) || /^tsx-\d+$/.test(name)

async function startReaper(folder: string): Promise<ChildProcess> {
  const script = join(folder, REAPER_FILE)
  await bundle(join(import.meta.dirname, 'reaper.ts'), script)
  // In a process group of its own: Ctrl-C in the terminal must not reach it.
  const reaper = spawn(process.execPath, [script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.unref()
  return reaper
}

/** Folders of runs whose reaper ended with them, as when the machine stopped; of this user and this namespace only. */
async function clearDeadRuns(parent: string): Promise<void> {
  for (const name of entriesOf(parent)) {
    const [, pid, start, namespace] = /^svc-run-(\d+)-(\d+)-(\d+)-/.exec(name) ?? []
    // A process id says nothing about a process of another container that shares this folder.
    if (pid === undefined || namespace !== PID_NAMESPACE) continue
    if ((startOf(Number(pid)) ?? (isAlive(Number(pid)) ? '0' : '')) === start) continue
    const path = join(parent, name)
    try {
      if (lstatSync(path).uid === process.getuid?.()) await clear(path)
    } catch {
      // Another run is clearing it, or its files belong to another user: no reason to stop this run.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It is there, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
