/** The journal of a resumable run: a file that is on the disk before anything is sent, so that the same command goes on with it. */
import { readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { writeAtomically } from '../../src/files.ts'

/** A blockhash lives for a minute or two: what was signed longer ago can no longer be confirmed. */
export const SIGNED_EXPIRY_MS = 180_000

export interface JournalFormat<T> {
  /** Null for a value that is no such journal. */
  parse(value: unknown): T | null
  /** Throws for a file that is no such journal; where it returns, the file counts as none. */
  refuseContent?(file: string): void
  /** Throws the problem of a file that cannot be read or written, with its way out. */
  refuseFile?(file: string, error: unknown): never
}

/** What a run has begun, in one JSON file (0600). */
export class RunJournal<T> {
  readonly file: string
  readonly #format: JournalFormat<T>

  constructor(file: string, format: JournalFormat<T>) {
    this.file = file
    this.#format = format
  }

  /** Null where no run before this one has begun anything. */
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

  /** The journal that is there, else this one: of two runs that begin at once, one wins. */
  begin(first: T): T {
    const earlier = this.read()
    if (earlier !== null) return earlier
    if (this.#replace(first, { exclusive: true })) return first
    const winner = this.read()
    if (winner === null) throw new Error(`${this.file} was removed while two runs began`)
    return winner
  }

  /** Replaces it in one step: a crash leaves what was before or what is after. */
  write(content: T): void {
    this.#replace(content, { exclusive: false })
  }

  /** Notes when something was last about to be sent, in Unix milliseconds. */
  touch(now: number): void {
    utimesSync(this.file, now / 1000, now / 1000)
  }

  /** When it was last touched or written, in Unix milliseconds; 0 before there is one. */
  touchedAt(): number {
    return statSync(this.file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  }

  /** Once the chain shows what the run was for, nothing in it is needed any more. */
  remove(): void {
    rmSync(this.file, { force: true })
  }

  /** False where `exclusive` and there is one already. The name is on the disk too when this answers. */
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
