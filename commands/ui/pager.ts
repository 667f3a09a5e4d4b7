/** Shows a text that is taller than the screen in the user's pager, as `git` and `gh` do. */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The exit codes of a shell for a command that is missing or cannot be run. */
const NOT_RUN = [126, 127]

/**
 * The command of the pager: `SVC_PAGER`, otherwise `PAGER`, otherwise `less` if installed. Null for no pager: an empty
 * variable, `cat`, or a terminal that cannot move its cursor.
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
 * Resolves with true when the pager has ended in any way. Resolves with false if it could not be started and the text
 * must still be shown. Meanwhile Ctrl-C belongs to the pager.
 */
export async function showInPager(command: string, text: string, env: Environment): Promise<boolean> {
  const heed = () => undefined
  process.on('SIGINT', heed)
  try {
    return await new Promise((resolve) => {
      // The variable may have options, such as `less -S`, so a shell runs it, as usual for pagers.
      const pager = spawn(command, {
        shell: true,
        stdio: ['pipe', 'inherit', 'inherit'],
        // These make it end at once if all fits, keep colours, and leave the text on the screen.
        env: { ...env, LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
      })
      pager.once('error', () => resolve(false))
      pager.once('close', (code) => resolve(!NOT_RUN.includes(code ?? 0)))
      // The user may close the pager before it has read all.
      pager.stdin.on('error', heed)
      pager.stdin.end(text)
    })
  } finally {
    process.removeListener('SIGINT', heed)
  }
}
