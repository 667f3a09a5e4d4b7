/** The journal of a list that is sent: every batch with its signed bytes, on disk before they are sent, and how it ended. */
import type { ApiCaller } from '../../session.ts'
import { JournalLock, journalNotKept, refuseOtherTerms } from '../../signing/journal-lock.ts'
import { LineJournal } from '../../signing/line-journal.ts'
import { usage } from '../../ui/problem.ts'
import type { SendTermsOfList } from './rows.ts'

/** The token, sender and cluster of a list, the same in every run. */
export type SendTerms = {
  mint: string
  payer: string
  /** The cluster's label; null where only the API knows it. */
  cluster: string | null
}

/** A wallet, and its amount in raw units as digits. */
export type SentRecipient = [wallet: string, amount: string]

/** What the user's keypair has signed. */
export interface SignedBatch {
  transaction: string
  signature: string
  last_valid_block_height: number
}
/** What the platform wallet was asked to sign under an idempotency key; its signature once that is known. */
export interface RequestedBatch {
  key: string
  /** Unix milliseconds. */
  at: number
  signature: string | null
  /** Who asked, and which API: nobody else's key is answered by what was signed. */
  caller?: ApiCaller
  /** What was asked besides the recipients; a key answers the same request only. */
  body: SendTermsOfList & { tx_version?: 1; mode: 'signed' }
}
export type BatchSending = SignedBatch | RequestedBatch

export interface SentBatch {
  batch: number
  recipients: readonly SentRecipient[]
  sending: BatchSending
}

type BatchEndName = 'confirmed' | 'expired' | 'failed'
type JournalLine =
  | { batch: number; recipients: SentRecipient[]; sending: BatchSending }
  | { batch: number; signature: string }
  | { batch: number; end: BatchEndName }

interface JournalHead extends SendTerms {
  version: 1
  kind: 'svc-token-sends'
}

/** What was paid to a wallet, in raw units, and by which transaction. */
export interface PaidWallet {
  amount: string
  signature: string
}

export class SendJournal {
  readonly lock: JournalLock
  readonly #journal: LineJournal<JournalHead, JournalLine>
  readonly #terms: SendTerms
  readonly #open = new Map<number, SentBatch>()
  readonly #paid = new Map<string, PaidWallet>()
  #last = 0

  /** Reads the journal, and writes none. Throws a usage problem for that of another list. */
  constructor(file: string, terms: SendTerms) {
    this.lock = new JournalLock(file, 'sending')
    this.#terms = terms
    this.#journal = new LineJournal(file, {
      head: headOf,
      entry: journalLineOf,
      refuseContent(_, line) {
        throw usage(`${file}:${line} is no journal of tokens that are sent`, {
          param: '--journal',
          next: 'restore it: without it nothing tells who was paid, and another --journal pays everybody anew',
        })
      },
      refuseFile(_, error) {
        throw journalNotKept(file, error)
      },
    })
    this.#read()
  }

  get file(): string {
    return this.#journal.file
  }

  /** What an earlier run has paid, by wallet. */
  get paid(): ReadonlyMap<string, PaidWallet> {
    return this.#paid
  }

  /** Batches that may still land, or have landed unseen. */
  get open(): SentBatch[] {
    return [...this.#open.values()]
  }

  /**
   * Keeps the journal to this run until the returned function is called or the process ends, and reads it again. Throws
   * conflict while another run has it.
   */
  async begin(): Promise<() => void> {
    const release = await this.lock.hold()
    try {
      this.#journal.open({ version: 1, kind: 'svc-token-sends', ...this.#terms })
      this.#read()
    } catch (error) {
      this.#journal.close()
      release()
      throw error
    }
    return () => {
      this.#journal.close()
      release()
    }
  }

  /** Writes what is about to be sent; on disk when this returns. */
  begun(recipients: readonly SentRecipient[], sending: BatchSending): SentBatch {
    const batch = this.#last + 1
    this.#write({ batch, recipients: [...recipients], sending })
    return { batch, recipients, sending }
  }

  /** Writes the signature of the platform wallet. */
  named({ batch }: SentBatch, signature: string): void {
    this.#write({ batch, signature })
  }

  ended({ batch }: SentBatch, end: BatchEndName): void {
    this.#write({ batch, end })
  }

  #write(line: JournalLine): void {
    this.#journal.append(line)
    this.#take(line)
  }

  #read(): void {
    const read = this.#journal.read()
    this.#open.clear()
    this.#paid.clear()
    this.#last = 0
    if (read === null) return
    const { mint, payer, cluster } = read.head
    refuseOtherTerms(this.file, {
      begun: { mint, payer, cluster },
      terms: this.#terms,
      names: { mint: 'the token', payer: 'the sender', cluster: 'the cluster' },
      anew: 'send the list as a new one',
    })
    for (const line of read.entries) this.#take(line)
  }

  #take(line: JournalLine): void {
    this.#last = Math.max(this.#last, line.batch)
    if ('sending' in line) this.#open.set(line.batch, line)
    const open = this.#open.get(line.batch)
    if (open === undefined) return
    if ('signature' in line)
      this.#open.set(line.batch, { ...open, sending: { ...open.sending, signature: line.signature } })
    if (!('end' in line)) return
    this.#open.delete(line.batch)
    if (line.end !== 'confirmed') return
    for (const [wallet, amount] of open.recipients) {
      this.#paid.set(wallet, { amount, signature: open.sending.signature ?? '' })
    }
  }
}

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const isText = (value: unknown): value is string => typeof value === 'string'
const isMoment = (value: unknown) => Number.isSafeInteger(value) && !Number.isNaN(new Date(value as number).getTime())
const isCaller = ({ api, key }: Fields) => isText(api) && isText(key)

function headOf(value: unknown): JournalHead | null {
  const { version, kind, mint, payer, cluster } = fieldsOf(value)
  const isHead =
    version === 1 &&
    kind === 'svc-token-sends' &&
    isText(mint) &&
    isText(payer) &&
    (cluster === null || isText(cluster))
  return isHead ? (value as JournalHead) : null
}

function journalLineOf(value: unknown): JournalLine | null {
  const { batch, recipients, sending, signature, end } = fieldsOf(value)
  if (!Number.isSafeInteger(batch)) return null
  if (isText(signature) || end === 'confirmed' || end === 'expired' || end === 'failed') return value as JournalLine
  const isList =
    Array.isArray(recipients) &&
    recipients.every((pair) => Array.isArray(pair) && isText(pair[0]) && /^\d{1,20}$/.test(String(pair[1])))
  const { transaction, signature: signed, last_valid_block_height, key, at, body, caller } = fieldsOf(sending)
  const isSigned = isText(transaction) && isText(signed) && Number.isSafeInteger(last_valid_block_height)
  const isRequested =
    isText(key) && isMoment(at) && fieldsOf(body) === body && (caller === undefined || isCaller(fieldsOf(caller)))
  return isList && (isSigned || isRequested) ? (value as JournalLine) : null
}
