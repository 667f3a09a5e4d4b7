/** The journal of a resumable run: a file that is on disk before anything is sent, so that the same command can continue the run. */
import { readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { writeAtomically } from '../../src/files.ts'

/**
 * Milliseconds after which a signed transaction can no longer be confirmed: three times the 150 blocks of a blockhash at
 * 400 ms, the longest target of a slot (SIMD-0525 only shortens it).
 */
export const SIGNED_EXPIRY_MS = 180_000

export interface JournalFormat<T> {
  /** Returns the content; null for a value that is no such journal. */
  parse(value: unknown): T | null
  /** Throws for a file that is no such journal; where it returns, the file is treated as missing. */
  refuseContent?(file: string): void
  /** Throws a problem for a file that cannot be read or written, with what to do about it. */
  refuseFile?(file: string, error: unknown): never
}

/** The state of a run, in one JSON file (0600). */
export class RunJournal<T> {
  readonly file: string
  readonly #format: JournalFormat<T>

  constructor(file: string, format: JournalFormat<T>) {
    this.file = file
    this.#format = format
  }

  /** Reads the journal; null where no earlier run has started one. */
  read(): T | null {
    let text: string
    try {
      text = readFileSync(this.file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#format.refuseFile?.(this.file, error)
      return null
    }
    const content = this.#format.parse(jsonOf(text))
    if (content === null) this.#format.refuseContent?.(this.file)
    return content
  }

  /** Returns the existing journal, or creates this one; of two runs that start at once, one succeeds. */
  begin(first: T): T {
    const earlier = this.read()
    if (earlier !== null) return earlier
    if (this.#replace(first, { exclusive: true })) return first
    const concurrent = this.read()
    if (concurrent === null) throw new Error(`${this.file} was removed while two runs began`)
    return concurrent
  }

  /** Replaces the journal atomically: a crash leaves the old content or the new one. */
  write(content: T): void {
    this.#replace(content, { exclusive: false })
  }

  /** Records when something was last about to be sent, in Unix milliseconds. */
  touch(now: number): void {
    utimesSync(this.file, now / 1000, now / 1000)
  }

  /** When the journal was last touched or written, in Unix milliseconds; 0 where there is none. */
  touchedAt(): number {
    return statSync(this.file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  }

  /** Removes the journal, which is not needed once the chain shows the result of the run. */
  remove(): void {
    rmSync(this.file, { force: true })
  }

  /** Writes the file; false where `exclusive` and it exists. The folder is synced too, so the name survives a crash. */
  #replace(content: T, { exclusive }: { exclusive: boolean }): boolean {
    try {
      const text = `${JSON.stringify(content, undefined, 2)}\n`
      return writeAtomically(this.file, text, { exclusive, syncFolder: true })
    } catch (error) {
      this.#format.refuseFile?.(this.file, error)
      throw error
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
