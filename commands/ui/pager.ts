/** Shows a text that is higher than the screen in the user's pager, as `git` and `gh` do. */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** What a shell reports of a command that is not there or cannot be run. */
const NOT_RUN = [126, 127]

/**
 * The command of the pager: `SVC_PAGER`, else `PAGER`, else `less` where it is installed. Null where none is wanted:
 * empty, `cat`, or a terminal that cannot move its cursor.
 */
export function pagerOf(env: Environment): string | null {
  const chosen = env.SVC_PAGER ?? env.PAGER ?? (isInstalled('less', env.PATH) ? 'less' : '')
  return env.TERM === 'dumb' || ['', 'cat'].includes(chosen.trim()) ? null : chosen
}

function isInstalled(program: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return folder !== ''
    } catch {
      return false
    }
  })
}

/**
 * Resolves with true when the pager has ended, however it did, and with false where it could not be started, so that
 * the text is still to be shown. Ctrl-C is the pager's meanwhile.
 */
export async function showInPager(command: string, text: string, env: Environment): Promise<boolean> {
  const heed = () => undefined
  process.on('SIGINT', heed)
  try {
    return await new Promise((resolve) => {
      // The shell splits `less -S` and the like, which is how this variable has always been read.
      const pager = spawn(command, {
        shell: true,
        stdio: ['pipe', 'inherit', 'inherit'],
        // It ends at once where all fits, keeps colours, and leaves the text on the screen.
        env: { ...env, LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
      })
      pager.once('error', () => resolve(false))
      pager.once('close', (code) => resolve(!NOT_RUN.includes(code ?? 0)))
      // A pager may be closed before it has read all.
      pager.stdin.on('error', heed)
      pager.stdin.end(text)
    })
  } finally {
    process.removeListener('SIGINT', heed)
  }
}
