/** What a test run has made and may have left behind: processes that name its folder, and what is in that folder. */
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Below the folder of the run: what its files share. It goes with the run. */
export const SHARED_FOLDER = 'shared'

export interface RunningProcess {
  pid: number
  parent: number
  command: string
}

/** Processes whose command, environment or working folder names `folder`; none where the system has no /proc. */
export function processesNaming(folder: string): RunningProcess[] {
  const pids = entriesOf('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).flatMap((pid) => {
    if (pid === process.pid) return []
    const read = (name: string) => attempt(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')) ?? ''
    const command = read('cmdline').replaceAll('\0', ' ').trim()
    const folderOf = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? ''
    if (![command, read('environ'), folderOf].some((text) => text.includes(folder))) return []
    // The name in brackets may hold spaces; after it stand the state and the parent.
    const [state, parent] = read('stat').split(') ').at(-1)?.split(' ') ?? []
    return state === 'Z' ? [] : [{ pid, parent: Number(parent), command }]
  })
}

/** When the process began, in the system's ticks; undefined when there is none. A process id alone may be reused. */
export function startOf(pid: number): string | undefined {
  return attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
    ?.split(') ')
    .at(-1)
    ?.split(' ')[19]
}

/** Within which process ids mean the same; '0' where the system has no /proc. */
export const PID_NAMESPACE = String(attempt(() => statSync('/proc/self/ns/pid').ino) ?? 0)

/** Rounds in which PostgreSQL may remove its shared memory, which no other process does when it is killed. */
const QUIT_ROUNDS = 60

/** Ends every process but `spared` that names the folder, then removes the folder; gives up after ten seconds. */
export async function clear(folder: string, spared?: number): Promise<void> {
  for (let round = 0; round < 100; round++) {
    const running = processesNaming(folder).filter(({ pid }) => pid !== spared)
    if (running.length === 0) break
    for (const { pid, command } of running) {
      const mayQuit = round < QUIT_ROUNDS && /\bpostgres(:| -D)/.test(command)
      attempt(() => process.kill(pid, mayQuit ? 'SIGQUIT' : 'SIGKILL'))
    }
    await pause(100)
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

export const entriesOf = (folder: string): string[] => attempt(() => readdirSync(folder)) ?? []

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
