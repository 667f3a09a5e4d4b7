/** Makes the running daemon reload its settings, and waits for what it did. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { readOwnIfThere } from '../../src/platform/files.ts'
import { type Config, RELOAD_SIGNAL, type Reloaded } from '../../src/settings/config.ts'
import { failure } from '../ui/problem.ts'
import { runningDaemon } from './connection.ts'

const RELOADED_WITHIN_MS = 10_000
const RELOAD_POLL_MS = 20

const text = z.string()
const daemonFile = z.object({
  reload_signal: text.optional(),
  reloaded: z
    .object({ id: text, applied: z.array(text), needs_restart: z.array(text), error: text.nullable() })
    .optional(),
})

/** Throws a failure if no daemon runs on the data folder, if it is another user's, or if it does not answer. */
export async function reloadDaemon(config: Config): Promise<Reloaded & { url: string; pid: number }> {
  const daemon = runningDaemon(config)
  if (daemon === undefined)
    throw failure(`no daemon runs on ${config.dataDir}`, { next: 'start it: `svc serve`; it reads all settings' })
  const { pid, url, file } = daemon
  const before = readDaemonFile(file)
  const restart = `stop it (kill ${pid}) and start it again`
  if (before?.reload_signal !== RELOAD_SIGNAL)
    throw failure(`the daemon at ${url} (pid ${pid}) reloads no settings`, { next: restart })
  orderReload(pid)
  const until = performance.now() + RELOADED_WITHIN_MS
  while (performance.now() < until) {
    const { reloaded } = readDaemonFile(file) ?? {}
    if (reloaded !== undefined && reloaded.id !== before.reloaded?.id) return { url, pid, ...reloaded }
    await pause(RELOAD_POLL_MS)
  }
  throw failure(`the daemon at ${url} (pid ${pid}) has not reloaded its settings within 10 s`, {
    next: `read its log, or ${restart}`,
  })
}

/** The daemon's file; undefined while it is missing or has another form. */
function readDaemonFile(file: string): z.infer<typeof daemonFile> | undefined {
  try {
    return daemonFile.parse(JSON.parse(readOwnIfThere(file, { folder: 'own' }) ?? ''))
  } catch {
    return undefined
  }
}

function orderReload(pid: number): void {
  try {
    process.kill(pid, RELOAD_SIGNAL)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    throw failure(`the daemon (pid ${pid}) runs as another user`, {
      next: 'run this as that user, or let its supervisor reload it (`systemctl reload svc`)',
    })
  }
}
