/**
 * The signals that make a daemon reload its settings: SIGUSR2, and SIGHUP without a terminal. To a daemon on a terminal
 * SIGHUP is the end of the terminal.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { RELOAD_SIGNAL } from '../src/settings/config.ts'

export interface Hangups {
  /**
   * What SIGHUP means for this process; determined at its start, because a closed terminal can no longer be detected.
   */
  meaning: 'stop' | 'reload'
  /** Calls `reload` at every such signal from now on, and once for earlier ones. */
  onReload(reload: () => void): void
  /** Lets these signals end the process again. */
  release(): void
}

/** Listens from the start, because a signal without a listener ends the process, even while it is starting. */
export function listenForHangups(): Hangups {
  const meaning = hasTerminal() ? 'stop' : 'reload'
  const signals: NodeJS.Signals[] = meaning === 'stop' ? [RELOAD_SIGNAL] : ['SIGHUP', RELOAD_SIGNAL]
  let missed = false
  let listener = () => {
    missed = true
  }
  const onSignal = () => listener()
  for (const signal of signals) process.on(signal, onSignal)
  return {
    meaning,
    onReload(reload) {
      listener = reload
      if (missed) reload()
    },
    release() {
      for (const signal of signals) process.removeListener(signal, onSignal)
    },
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
