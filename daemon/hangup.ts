/** SIGHUP: the end of its terminal for a daemon that has one, otherwise the order to reload the settings. */
import { closeSync, constants, openSync } from 'node:fs'

export interface Hangups {
  /**
   * What SIGHUP means for this process; determined at its start, because a closed terminal can no longer be detected.
   */
  meaning: 'stop' | 'reload'
  /** Calls `reload` at every SIGHUP from now on, and once for earlier ones; never if SIGHUP means to stop. */
  onReload(reload: () => void): void
  /** Lets SIGHUP end the process again. */
  release(): void
}

/** Listens from the start, because a SIGHUP without a listener ends the process, even while it is starting. */
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

/**
 * Whether this process has a controlling terminal, even if its streams are redirected; the console of Windows counts.
 */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return true
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}
