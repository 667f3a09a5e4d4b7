/** The journal of `svc pools create --from`: what each launch was built as and signed, on disk before anything is sent. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { RunJournal } from '../signing/journal.ts'
import { JournalLock, journalNotKept, refuseOtherTerms } from '../signing/journal-lock.ts'
import type { CompleteTransaction } from '../signing/signatures.ts'
import { usage } from '../ui/problem.ts'

/** The payer and cluster of a list, the same in every run. */
export type ListTerms = {
  payer: string
  /** The cluster's label; null where only the API knows it. */
  cluster: string | null
}

/** A launch that was begun; its pool never changes, so that it exists once at most. */
export interface LaunchedEntry {
  /** SHA-256 of the row in hex. */
  sha256: string
  pool: string
  mint: string
  /** What else the answer told of it; not there in journals of earlier versions. */
  quoteMint?: string
  platformPercentage?: number
  /** Whether the pool was seen on chain; nothing else is kept then. */
  isLive: boolean
  /** What is not known to be confirmed, without the keypair's signature. */
  built: Pick<PoolCreated, 'transactions' | 'generated_keys' | 'last_valid_block_height' | 'tracked_resource'> | null
  /** The same, signed; null until then. */
  signed: CompleteTransaction[] | null
  signatures: string[]
}

type ListRecord = ListTerms & {
  version: 1
  /** By the symbol in capitals. */
  launches: Record<string, LaunchedEntry>
}

export class LaunchListJournal {
  readonly #journal: RunJournal<ListRecord>
  readonly #lock: JournalLock
  readonly #terms: ListTerms
  #record: ListRecord

  /** Reads the journal, and writes none. Throws a usage problem for that of another run. */
  constructor(file: string, terms: ListTerms) {
    this.#journal = new RunJournal<ListRecord>(file, {
      parse: listRecordOf,
      refuseContent() {
        throw usage(`${file} is no journal of \`svc pools create --from\``, {
          param: '--journal',
          next: 'restore it: without it nothing tells what was launched, and another --journal launches every row anew',
        })
      },
      refuseFile: (_, error) => {
        throw journalNotKept(file, error)
      },
    })
    this.#lock = new JournalLock(file, 'launching')
    this.#terms = terms
    this.#record = this.#journal.read() ?? { version: 1, ...terms, launches: {} }
    refuseOtherList(file, this.#record, terms)
  }

  get file(): string {
    return this.#journal.file
  }

  entry(symbol: string): LaunchedEntry | null {
    const key = symbol.toUpperCase()
    return Object.hasOwn(this.#record.launches, key) ? (this.#record.launches[key] ?? null) : null
  }

  /** Symbols of the launches that were begun. */
  symbols(): string[] {
    return Object.keys(this.#record.launches)
  }

  /** Throws conflict while another run launches by this journal. */
  refuseWhileHeld(): void {
    this.#lock.refuseWhileHeld()
  }

  /**
   * Keeps the journal to this run until the returned function is called or the process ends, and reads it again. Throws
   * conflict while another run has it: each would overwrite what the other has signed.
   */
  async begin(): Promise<() => void> {
    const release = await this.#lock.hold()
    try {
      this.#record = this.#journal.begin(this.#record)
      refuseOtherList(this.file, this.#record, this.#terms)
    } catch (error) {
      release()
      throw error
    }
    return release
  }

  /** The entry is on disk when this returns. */
  write(symbol: string, entry: LaunchedEntry): void {
    const launches = { ...this.#record.launches, [symbol.toUpperCase()]: entry }
    this.#record = { ...this.#record, launches }
    this.#journal.write(this.#record)
  }
}

function listRecordOf(value: unknown): ListRecord | null {
  const record = value as Partial<ListRecord> | null
  const isRecord =
    record?.version === 1 &&
    typeof record.payer === 'string' &&
    typeof record.launches === 'object' &&
    record.launches !== null &&
    Object.values(record.launches).every(
      (entry) =>
        typeof entry?.sha256 === 'string' && typeof entry.pool === 'string' && typeof entry.isLive === 'boolean',
    )
  return isRecord ? (value as ListRecord) : null
}

function refuseOtherList(file: string, record: ListRecord, { payer, cluster }: ListTerms): void {
  refuseOtherTerms(file, {
    begun: { payer: record.payer, cluster: record.cluster },
    terms: { payer, cluster },
    names: { payer: 'the keypair', cluster: 'the cluster' },
    anew: 'launch the list as a new one',
  })
}
