/** The journal of a list that is sent: every batch with its signed bytes, stored before they are sent, and how it ended. */
import type { TermsField } from '../../signing/flags.ts'
import type { SignedSending } from '../attempt.ts'
import { fieldsOf, type JournalFields, type JournalKind, ListJournal } from '../journal.ts'
import type { CallerRequest } from '../key-trust.ts'
import type { SignedEnd } from '../until-ended.ts'

/** The token, sender and cluster of a list, the same in every run. */
export type SendTerms = {
  mint: string
  payer: string
  /** The cluster's label; null if only the API knows it. */
  cluster: string | null
}

/** What is sent, and how. */
export type SendTermsOfList = {
  payer: string
  mint: string
  allow_programs: boolean
  accept_transfer_fee: boolean
  airdrop_id?: string
}

/** What every batch of a list has in common. */
export type BatchTerms = { payer: string; mint: string } & Record<string, unknown>

/** The request to the platform wallet. */
export interface RequestedBatch extends CallerRequest {
  /** The request without its recipients; a key is valid only for the same request. */
  body: BatchTerms & TermsField & { mode: 'signed' }
}
export type BatchSending = SignedSending | RequestedBatch

/** A batch; the journal stores it under its number. */
export interface SentBatch {
  /** Each wallet, and its amount in raw units as digits. */
  recipients: readonly (readonly [wallet: string, amount: string])[]
  sending: BatchSending
  /** Left out until the end is proven. */
  end?: SignedEnd['kind'] | undefined
}
export type OpenBatch = SentBatch & { batch: string }

/** What the journal says was paid to a wallet, in raw units, and by which transaction. */
export interface PaidWallet {
  amount: string
  signature: string
  /** Why it does not count as paid; null if the chain proves it. */
  doubt: string | null
}

export const SEND_JOURNAL: JournalKind<SendTerms> = {
  kind: 'svc-token-sends',
  command: 'tokens that are sent',
  doing: 'sending',
  names: { mint: 'the token', payer: 'the sender', cluster: 'the cluster' },
  anew: 'send the list as a new one',
  loss: 'another --journal pays everybody again',
  isEntry: isSentBatch,
}

export class SendJournal extends ListJournal<SendTerms, SentBatch> {
  constructor(file: string, terms: SendTerms, kind: JournalKind<SendTerms> = SEND_JOURNAL) {
    super(file, terms, kind)
  }

  /** Batches that earlier runs saw confirmed. */
  finished(): OpenBatch[] {
    return [...this.entries].flatMap(([batch, sent]) => (sent.end === 'confirmed' ? [{ ...sent, batch }] : []))
  }

  /** Batches that may still be confirmed, or are confirmed without having been seen. */
  open(): OpenBatch[] {
    return [...this.entries].flatMap(([batch, sent]) => (sent.end === undefined ? [{ ...sent, batch }] : []))
  }

  /** A number that no batch has; a journal that was edited may lack some. */
  next(): string {
    let number = this.entries.size + 1
    while (this.entries.has(String(number))) number++
    return String(number)
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isMoment = (value: unknown) => Number.isSafeInteger(value) && !Number.isNaN(new Date(value as number).getTime())
const isCaller = ({ api, key }: JournalFields) => isText(api) && isText(key)

export function isSentBatch({ recipients, sending, end }: JournalFields): boolean {
  const isList =
    Array.isArray(recipients) &&
    recipients.every((pair) => Array.isArray(pair) && isText(pair[0]) && /^\d{1,20}$/.test(String(pair[1])))
  const { transaction, signature, last_valid_block_height, key, at, body, caller } = fieldsOf(sending)
  const isSigned = isText(transaction) && isText(signature) && Number.isSafeInteger(last_valid_block_height)
  const isRequested =
    isText(key) && isMoment(at) && fieldsOf(body) === body && (caller === undefined || isCaller(fieldsOf(caller)))
  return isList && (isSigned || isRequested) && ['confirmed', 'expired', 'failed', undefined].includes(end as string)
}
