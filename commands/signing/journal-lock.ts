/** Keeps a journal to one run at a time, because each of two would overwrite or repeat what the other has signed. */
import { holdLock, isLocked } from '../../src/file-lock.ts'
import { makeOwnDatabase } from '../../src/files.ts'
import { reason } from '../ui/files.ts'
import { Problem, usage } from '../ui/problem.ts'

/** Milliseconds; another run that only looks at the lock takes a moment of it. */
const LOCK_WAIT_MS = 1_000

export class JournalLock {
  readonly #journal: string
  readonly #doing: string

  /** `doing` says what a run does by the journal, as in `another run is launching by the journal FILE`. */
  constructor(journal: string, doing: string) {
    this.#journal = journal
    this.#doing = doing
  }

  /** The lock's file stays: of two runs that held files of one name, one might have been removed. */
  get #file(): string {
    return `${this.#journal}.lock`
  }

  /** Throws conflict while another run has the journal. */
  refuseWhileHeld(): void {
    if (isLocked(this.#file)) throw this.#held()
  }

  /**
   * Keeps the journal to this run until the returned function is called or the process ends. Throws conflict while another
   * run has it.
   */
  async hold(): Promise<() => void> {
    let release: (() => void) | undefined
    try {
      makeOwnDatabase(this.#file)
      release = await holdLock(this.#file, LOCK_WAIT_MS)
    } catch (error) {
      throw journalNotKept(this.#journal, error)
    }
    if (release === undefined) throw this.#held()
    return release
  }

  #held() {
    return new Problem('conflict', `another run is ${this.#doing} by the journal ${this.#journal}`, {
      next: 'run the same command again when that one has ended',
    })
  }
}

/** The usage problem of a journal that cannot be read or written. */
export const journalNotKept = (file: string, error: unknown) =>
  usage(`the journal ${file} cannot be kept: ${reason(error)}`, {
    param: '--journal',
    next: 'name a place for it with --journal FILE',
  })

/**
 * Throws a usage problem where a journal was begun on other terms. `names` says what each term is, `anew` what another
 * journal would lead to; a term that is null is not known and fits any.
 */
export function refuseOtherTerms<T extends { [K in keyof T]: string | null }>(
  file: string,
  { begun, terms, names, anew }: { begun: T; terms: T; names: { [K in keyof T]: string }; anew: string },
): void {
  const other = (Object.keys(names) as (keyof T)[]).find(
    (name) => begun[name] !== null && terms[name] !== null && begun[name] !== terms[name],
  )
  if (other === undefined) return
  throw usage(`${file} was begun with ${names[other]} ${begun[other]}, not ${terms[other]}`, {
    param: '--journal',
    next: `go on with that one, or name another --journal to ${anew}`,
  })
}
