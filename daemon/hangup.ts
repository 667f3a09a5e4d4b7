/** SIGHUP: the end of a terminal for a daemon that has one, the order to read the settings anew for one that has none. */
import { closeSync, constants, openSync } from 'node:fs'

export interface Hangups {
  /** What SIGHUP means for this process, as at its start: a terminal that is gone cannot be asked for. */
  meaning: 'stop' | 'reload'
  /** Calls `reload` at every SIGHUP from now on, and once for those that came earlier; never where SIGHUP means to stop. */
  onReload(reload: () => void): void
  /** Lets SIGHUP end the process again. */
  release(): void
}

/** Listens from the start on, because a SIGHUP that nobody listens for ends the process, also one that is starting. */
export function listenForHangups(): Hangups {
  if (hasTerminal()) return { meaning: 'stop', onReload() {}, release() {} }
  let missed = false
  let listener = () => {
    missed = true
  }
  const onHangup = () => listener()
  process.on('SIGHUP', onHangup)
  return {
    meaning: 'reload',
    onReload(reload) {
      listener = reload
      if (missed) reload()
    },
    release: () => void process.removeListener('SIGHUP', onHangup),
  }
}

/** Whether this process has a controlling terminal, wherever its streams lead; the console of Windows counts as one. */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return true
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}
