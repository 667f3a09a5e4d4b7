/** Detects faults of the whole database from the errors of its statements. A single row does not cause them, and a retry does not fix them. */

export type StoreFault = 'full' | 'damaged' | 'read-only' | 'unreachable' | 'failing'

/** Messages for the operator; they contain no file name and no host. */
export const FAULT_MESSAGES: Record<StoreFault, string> = {
  full: 'the disk is full: writes fail until there is free space',
  damaged: 'the database is damaged: run `svc doctor`, and restore it from a backup',
  'read-only': 'the database accepts no writes: it is read-only',
  unreachable: 'the database cannot be reached',
  failing: 'the disk failed to read or write the database',
}

const SQLITE: readonly [RegExp, StoreFault][] = [
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged'],
  [/^SQLITE_(READONLY|PERM)/, 'read-only'],
  [/^SQLITE_(IOERR|CANTOPEN)/, 'failing'],
]

/** SQLSTATE codes of PostgreSQL, and error codes of its connection. */
const POSTGRES: readonly [RegExp, StoreFault][] = [
  [/^53100$/, 'full'],
  [/^XX00[12]$/, 'damaged'],
  [/^25006$/, 'read-only'],
  [/^(08|57P0)|^E[A-Z]+$/, 'unreachable'],
  [/^58/, 'failing'],
]

/** Returns the database fault that an error indicates, or null if it does not concern the whole database. */
export function databaseFault(error: unknown): StoreFault | null {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') {
    const patterns = code.startsWith('SQLITE_') ? SQLITE : POSTGRES
    const match = patterns.find(([pattern]) => pattern.test(code))
    if (match !== undefined) return match[1]
  }
  return cause === undefined ? null : databaseFault(cause)
}

export interface Faults {
  /** Records an error of a read or a write. */
  recordError(error: unknown): void
  /** Records that a write became durable. */
  recordWrite(): void
  /** Fault since the last successful write, or damage since the start; null when there is none. */
  current(): StoreFault | null
}

/**
 * Stores the current fault. Damage persists even if other parts of the file are still writable; other faults end with
 * the next write.
 */
export function trackFaults(): Faults {
  let damaged = false
  let last: StoreFault | null = null
  return {
    recordError(error) {
      const fault = databaseFault(error)
      if (fault === 'damaged') damaged = true
      else if (fault !== null) last = fault
    },
    recordWrite() {
      last = null
    },
    current: () => (damaged ? 'damaged' : last),
  }
}
