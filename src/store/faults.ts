/** What is wrong with a database as a whole, seen in the errors of its statements: no row's fault, and none that a retry mends. */

export type StoreFault = 'full' | 'damaged' | 'read-only' | 'unreachable' | 'failing'

/** For whoever operates the service; they name no file and no host. */
export const FAULT_WORDS: Record<StoreFault, string> = {
  full: 'the disk is full: writes fail until there is room',
  damaged: 'the database is damaged: run `svc doctor`, and restore it from a backup',
  'read-only': 'the database takes no writes: it is read-only',
  unreachable: 'the database cannot be reached',
  failing: 'reading or writing the database failed at the disk',
}

const SQLITE: readonly [RegExp, StoreFault][] = [
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged'],
  [/^SQLITE_(READONLY|PERM)/, 'read-only'],
  [/^SQLITE_(IOERR|CANTOPEN)/, 'failing'],
]

/** PostgreSQL's codes, and those of its connection. */
const POSTGRES: readonly [RegExp, StoreFault][] = [
  [/^53100$/, 'full'],
  [/^XX00[12]$/, 'damaged'],
  [/^25006$/, 'read-only'],
  [/^(08|57P0)|^E[A-Z]+$/, 'unreachable'],
  [/^58/, 'failing'],
]

/** Null where the error says nothing of the database as a whole. */
export function databaseFault(error: unknown): StoreFault | null {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') {
    const known = code.startsWith('SQLITE_') ? SQLITE : POSTGRES
    const found = known.find(([pattern]) => pattern.test(code))
    if (found !== undefined) return found[1]
  }
  return cause === undefined ? null : databaseFault(cause)
}

export interface Faults {
  /** Takes note of an error, of a read or a write. */
  saw(error: unknown): void
  /** A write became durable. */
  wrote(): void
  /** Of the last write, and damage that was ever seen; null where there is none. */
  current(): StoreFault | null
}

/** Damage stays, whatever is written elsewhere in the file; anything else is over with the next write. */
export function rememberFaults(): Faults {
  let damaged = false
  let last: StoreFault | null = null
  return {
    saw(error) {
      const fault = databaseFault(error)
      if (fault === 'damaged') damaged = true
      else if (fault !== null) last = fault
    },
    wrote() {
      last = null
    },
    current: () => (damaged ? 'damaged' : last),
  }
}
