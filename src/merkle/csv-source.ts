/** The bytes of a CSV: in memory, or of an open file that is read piece by piece. */
import { fstatSync, readFileSync, readSync } from 'node:fs'

export interface CsvSource {
  /** Number of bytes. A reader that relies on it ignores bytes that were appended since. */
  readonly size: number
  /** Fills `target` from byte `at` of the source; returns how many bytes, 0 at the end. */
  read(target: Uint8Array, at: number): number
  /** All bytes at once. */
  all(): Uint8Array
}

/** A source over bytes in memory. */
export function bytesSource(bytes: Uint8Array): CsvSource {
  return {
    size: bytes.length,
    read(target, at) {
      const part = bytes.subarray(at, at + target.length)
      target.set(part)
      return part.length
    },
    all: () => bytes,
  }
}

/** A source over an open regular file; undefined for anything else, such as a pipe. The caller closes it. */
export function fileSource(fd: number): CsvSource | undefined {
  const stats = fstatSync(fd)
  if (!stats.isFile()) return undefined
  return {
    size: stats.size,
    read: (target, at) => readSync(fd, target, 0, target.length, at),
    // Reading by position does not move the file's own position, so this starts at its first byte.
    all: () => readFileSync(fd),
  }
}
