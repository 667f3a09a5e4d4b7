/** A journal of many entries: a file of JSON lines, each on disk before what it tells of is sent. */
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { writeAtomically } from '../../src/files.ts'

export interface LineJournalFormat<H, T> {
  /** Returns the first line's content; null for a value that begins no such journal. */
  head(value: unknown): H | null
  /** Returns a line's content; null for a value that is no such entry. */
  entry(value: unknown): T | null
  /** Throws a problem for a file that is no such journal; `line` counts from 1. */
  refuseContent(file: string, line: number): never
  /** Throws a problem for a file that cannot be read or written. */
  refuseFile(file: string, error: unknown): never
}

/**
 * A line that a crash has cut off was not on disk whole, so nothing was sent by it: it counts as not written, and is
 * removed when the journal is opened.
 */
export class LineJournal<H extends object, T extends object> {
  readonly file: string
  readonly #format: LineJournalFormat<H, T>
  #descriptor: number | null = null

  constructor(file: string, format: LineJournalFormat<H, T>) {
    this.file = file
    this.#format = format
  }

  /** Reads the whole lines; null where no run has begun the journal. */
  read(): { head: H; entries: T[] } | null {
    const bytes = this.#bytes()
    if (bytes === null) return null
    const [first = '', ...lines] = bytes.subarray(0, wholeLines(bytes)).toString('utf8').split('\n').slice(0, -1)
    const head = this.#format.head(jsonOfLine(first)) ?? this.#format.refuseContent(this.file, 1)
    const entries = lines.map(
      (line, i) => this.#format.entry(jsonOfLine(line)) ?? this.#format.refuseContent(this.file, i + 2),
    )
    return { head, entries }
  }

  /** Opens the journal, and begins it where it is missing. Only one run may have it open: its lock is held meanwhile. */
  open(first: H): void {
    try {
      const bytes = this.#bytes()
      if (bytes === null)
        writeAtomically(this.file, `${JSON.stringify(first)}\n`, { exclusive: true, syncFolder: true })
      this.#descriptor = openSync(this.file, 'a')
      if (bytes !== null && wholeLines(bytes) < bytes.length) {
        ftruncateSync(this.#descriptor, wholeLines(bytes))
        fsyncSync(this.#descriptor)
      }
    } catch (error) {
      this.#format.refuseFile(this.file, error)
    }
  }

  /** The entry is on disk when this returns. */
  append(entry: T): void {
    if (this.#descriptor === null) throw new Error(`the journal ${this.file} is not open`)
    try {
      writeWhole(this.#descriptor, Buffer.from(`${JSON.stringify(entry)}\n`))
      fsyncSync(this.#descriptor)
    } catch (error) {
      this.#format.refuseFile(this.file, error)
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }

  #bytes(): Buffer | null {
    try {
      return readFileSync(this.file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      return this.#format.refuseFile(this.file, error)
    }
  }
}

const LINE_FEED = 0x0a

const wholeLines = (bytes: Buffer) => bytes.lastIndexOf(LINE_FEED) + 1

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

function jsonOfLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
