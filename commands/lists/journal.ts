/**
 * Writes the journal of a list: what each row has started, on disk before anything is sent, so that the next run
 * continues it.
 */
import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { holdLock, isLocked } from '../../src/platform/file-lock.ts'
import {
  FileFault,
  makeOwnDatabase,
  readOwnIfThere,
  refuseReplaceable,
  writeAtomically,
} from '../../src/platform/files.ts'
import { reason } from '../ui/files.ts'
import { Problem, usage } from '../ui/problem.ts'

/** What must be the same in every run, such as the payer; null if unknown, which matches anything. */
type JournalTerms = { [name: string]: string | null }
export type JournalFields = Record<string, unknown>

/** The settings of one command's journals. */
export interface JournalKind<T extends JournalTerms> {
  /** Marks the file, such as `svc-token-sends`. */
  kind: string
  /** The command that writes it, for messages. */
  command: string
  /** What a run does, as in `another run is launching with the journal FILE`. */
  doing: string
  /** The name of each term, as in `FILE was started with the keypair ADDRESS`. */
  names: { [K in keyof T]: string }
  /** The effect of another journal, as in `name another --journal to mint the list as a new one`. */
  anew: string
  /** The effect of losing it, as in `another --journal launches every row again`. */
  loss: string
  /** How the user changes its place if the command has no flag --journal. */
  place?: string
  /** More fields of a new journal. */
  first?(): JournalFields
  isHead?(head: JournalFields): boolean
  isEntry(entry: JournalFields): boolean
}

const VERSION = 2
/** Milliseconds to wait for the lock, because another run that only checks it takes it for a moment. */
const LOCK_WAIT_MS = 1_000
/** The largest journal; a list of a million wallets has about 150 MB. */
const MOST_BYTES = 500_000_000

/**
 * A file of JSON lines (0600): the first describes the list, each other one the state of a row. The last line of a row
 * counts. A line that a crash has cut off does not count, because nothing was sent after it.
 */
export class ListJournal<T extends JournalTerms, E extends object> {
  readonly file: string
  readonly #kind: JournalKind<T>
  readonly #terms: T
  #head: JournalFields
  #entries = new Map<string, E>()
  #lines = 0
  #descriptor: number | null = null

  /** Reads the journal and writes nothing. Throws a usage problem for the journal of another list. */
  constructor(file: string, terms: T, kind: JournalKind<T>) {
    this.file = file
    this.#kind = kind
    this.#terms = terms
    this.#head = { kind: kind.kind, version: VERSION, ...terms, ...kind.first?.() }
    this.#read()
  }

  /** The fields of the first line. */
  get head(): Readonly<JournalFields> {
    return this.#head
  }

  /** The state of each started row, in the order in which they were started. */
  get entries(): ReadonlyMap<string, E> {
    return this.#entries
  }

  /** Throws conflict while another run has the journal. */
  refuseWhileHeld(): void {
    if (isLocked(this.#lockFile)) throw this.#held()
  }

  /**
   * Reserves the journal for this run until the returned function is called or the process ends, and reads it again.
   * Throws conflict while another run has it.
   */
  async begin(): Promise<() => void> {
    const release = await this.#lock()
    try {
      this.#read()
      this.#rewrite()
      this.#descriptor = openSync(this.file, 'a')
    } catch (error) {
      release()
      throw error instanceof Problem ? error : this.#notWritten(error)
    }
    return () => {
      this.#close()
      release()
    }
  }

  /** The entry of the row is on disk when this returns. */
  write(row: string, entry: E): void {
    const descriptor = this.#descriptor
    if (descriptor === null) throw new Error(`the journal ${this.file} is not open`)
    const { size } = fstatSync(descriptor)
    try {
      writeFileSync(descriptor, lineOf({ row, ...entry }))
      fsyncSync(descriptor)
    } catch (error) {
      // On a full disk a part of the line was written, and the next one must not continue it.
      ftruncateSync(descriptor, size)
      throw this.#notWritten(error)
    }
    this.#entries.set(row, entry)
    this.#lines++
  }

  /** Removes the journal once the chain shows the result. */
  remove(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
    this.#entries.clear()
    rmSync(this.file, { force: true })
  }

  /** The lock's file stays: if it were removed, two runs could hold locks on two files of one name. */
  get #lockFile(): string {
    return `${this.file}.lock`
  }

  async #lock(): Promise<() => void> {
    let release: (() => void) | undefined
    try {
      makeOwnDatabase(this.#lockFile)
      release = await holdLock(this.#lockFile, LOCK_WAIT_MS)
    } catch (error) {
      throw this.#notWritten(error)
    }
    return release ?? Promise.reject(this.#held())
  }

  #held() {
    return new Problem('conflict', `another run is ${this.#kind.doing} with the journal ${this.file}`, {
      next: 'run the same command again after that one has ended',
    })
  }

  #read(): void {
    const text = this.#text()
    if (text === null) return
    const [first = '', ...lines] = text.split('\n').slice(0, -1)
    const head = fieldsOf(first)
    const { kind, version } = head
    if (kind !== this.#kind.kind || version !== VERSION || this.#kind.isHead?.(head) === false) throw this.#foreign(1)
    this.#refuseOtherTerms(head)
    this.#head = head
    this.#lines = lines.length
    this.#entries = new Map(
      lines.map((line, i) => {
        const { row, ...entry } = fieldsOf(line)
        if (typeof row !== 'string' || !this.#kind.isEntry(entry)) throw this.#foreign(i + 2)
        return [row, entry as E]
      }),
    )
  }

  /** What others could have written is refused, because it says which rows are done. */
  #text(): string | null {
    try {
      const text = readOwnIfThere(this.file, { maxBytes: MOST_BYTES })
      if (text === null && existsSync(dirname(resolve(this.file)))) refuseReplaceable(this.file)
      return text
    } catch (error) {
      throw error instanceof FileFault && error.kind === 'exposed' ? this.#exposed(error) : this.#notWritten(error)
    }
  }

  /** Keeps only the last line of each row, so that no outdated signed transaction stays in the file. */
  #rewrite(): void {
    const lines = [lineOf(this.#head), ...[...this.#entries].map(([row, entry]) => lineOf({ row, ...entry }))]
    writeAtomically(this.file, lines.join(''), { syncFolder: true })
    this.#lines = this.#entries.size
  }

  #close(): void {
    if (this.#descriptor === null) return
    closeSync(this.#descriptor)
    this.#descriptor = null
    if (this.#lines === this.#entries.size) return
    try {
      this.#rewrite()
    } catch {
      // The journal is complete without it, and the next run does it.
    }
  }

  #refuseOtherTerms(head: JournalFields): void {
    const { names, anew } = this.#kind
    const other = Object.keys(names).find((name) => {
      const [begun = null, now = null] = [head[name], this.#terms[name]]
      return begun !== null && now !== null && begun !== now
    })
    if (other === undefined) return
    throw usage(`${this.file} was started with ${names[other]} ${head[other]}, not ${this.#terms[other]}`, {
      param: '--journal',
      next: `use that one, or name another --journal to ${anew}`,
    })
  }

  #foreign(line: number) {
    const { command, loss } = this.#kind
    return usage(`${this.file}:${line} is not a journal of ${command}, or one of another version`, {
      ...this.#param,
      next: `restore it, or finish the list with the version that began it; ${loss}`,
    })
  }

  #exposed({ what, next }: FileFault) {
    return usage(`the journal ${this.file} ${what}: others could mark rows in it as done`, {
      ...this.#param,
      next: `if all of it is yours: ${next}; otherwise ${this.#kind.place ?? 'name another place with --journal FILE'}`,
    })
  }

  #notWritten(error: unknown) {
    return usage(`the journal ${this.file} cannot be read or written: ${reason(error)}`, {
      ...this.#param,
      next: this.#kind.place ?? 'name a place for it with --journal FILE',
    })
  }

  get #param() {
    return this.#kind.place === undefined ? { param: '--journal' } : {}
  }
}

const lineOf = (fields: JournalFields) => `${JSON.stringify(fields)}\n`

/** The fields of an object, of its JSON, or none. */
export function fieldsOf(value: unknown): JournalFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JournalFields
  if (typeof value !== 'string') return {}
  try {
    return fieldsOf(JSON.parse(value))
  } catch {
    return {}
  }
}
