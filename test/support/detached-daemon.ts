/** A daemon of its own session, whose profile changes while it runs and whose log is read. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startDaemon } from './daemon.ts'
import { temporaryFolder } from './service.ts'

interface Line {
  msg: string
  level: unknown
  applied?: string[]
  needs_restart?: string[]
  err?: { message: string }
}

/** Without a terminal, with the profile that its home holds, and the lines of its log. */
export async function detachedDaemon(settings: Record<string, unknown>, env: Record<string, string> = {}) {
  const dataDir = temporaryFolder()
  const setProfile = (profile: unknown) => {
    const folder = join(dataDir, '.config', 'svc')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'profiles.json'), JSON.stringify({ current: 'default', profiles: { default: profile } }))
  }
  setProfile(settings)
  let text = ''
  const onLog = (more: string) => {
    text += more
  }
  const flags = ['--rpc-port', '0']
  // An empty variable counts as none, so that the level is the profile's.
  const daemon = await startDaemon({ dataDir, flags, detached: true, onLog, env: { SVC_LOG_LEVEL: '', ...env } })
  onTestFinished(() => daemon.stop('SIGKILL'))
  const lines = (msg: string): Line[] =>
    text
      .split('\n')
      .slice(0, -1)
      // The notes of the command stand between the lines of the log.
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg.includes(msg))
  return { daemon, dataDir, setProfile, lines, hangUp: () => daemon.process.kill('SIGHUP') }
}
