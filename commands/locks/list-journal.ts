/** The journal of `svc locks create --from`: the seed of every lock's address, and the rows that may be locked. */
import { randomBytes } from 'node:crypto'
import { type JournalKind, ListJournal } from '../lists/journal.ts'
import { goneEntries, seedOf, withIds } from '../lists/keyed-rows.ts'
import type { LockRow } from './list-rows.ts'

/** The same in every run. */
export type ListTerms = {
  mint: string
  payer: string
  /** The cluster's label; null if only the API knows it. */
  cluster: string | null
  /** Who may cancel and change the recipient, with the texts. */
  terms: string
}

/** A row that may be locked. */
interface BegunLock {
  wallet: string
  /** When its transaction was signed, in Unix milliseconds. */
  at: number
  /** The transaction that was sent last; null before the first is signed. */
  signature: string | null
  /** Whether it was seen on chain. The lock may be closed since. */
  isMade: boolean
}

export type LockJournal = ListJournal<ListTerms, BegunLock>

const LOCK_JOURNAL: JournalKind<ListTerms> = {
  kind: 'svc-locks',
  command: '`svc locks create --from`',
  doing: 'locking',
  names: { mint: 'the mint', payer: 'the keypair', cluster: 'the cluster', terms: 'the terms' },
  anew: 'lock the list as a new one',
  loss: 'another --journal locks every row again',
  isHead: ({ seed, now }) => /^[0-9a-f]{64}$/.test(String(seed)) && /^\d{1,12}$/.test(String(now)),
  isEntry: ({ wallet, at, signature, isMade }) =>
    typeof wallet === 'string' &&
    Number.isSafeInteger(at) &&
    (signature === null || typeof signature === 'string') &&
    typeof isMade === 'boolean',
}

/** `now` is when the schedules of a new journal begin that have no start of their own, in Unix seconds. */
export const lockJournal = (file: string, terms: ListTerms, now: bigint): LockJournal =>
  new ListJournal(file, terms, {
    ...LOCK_JOURNAL,
    first: () => ({ seed: randomBytes(32).toString('hex'), now: String(now) }),
  })

export interface KeyedRow extends LockRow {
  /** Names the row in the journal. */
  id: string
  /** The seed of the key that gives the lock its address; the same row has the same key in every run. */
  baseSeed: Uint8Array
}

/** The rows with their keys. */
export function keyRows({ head }: LockJournal, rows: readonly LockRow[]): KeyedRow[] {
  const keyed = withIds(rows, ({ wallet, plan }) => {
    const schedule = [plan.startTime, plan.cliffTime, plan.cliffAmount, plan.frequency, plan.periods]
    return [wallet, ...[plan.amount, ...schedule].map(String)]
  })
  return keyed.map((row) => ({ ...row, baseSeed: seedOf(head.seed, row.id) }))
}

/** Rows that may be locked and that the file no longer has. */
export const goneRows = (journal: LockJournal, rows: readonly KeyedRow[]) =>
  goneEntries(journal, rows).map(([id, begun]) => ({ ...begun, baseSeed: seedOf(journal.head.seed, id) }))
