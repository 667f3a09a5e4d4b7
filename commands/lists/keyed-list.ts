/** What a list is whose rows each make one account on chain: how a row is read, built, checked and shown. */
import type { Simulation } from '../../src/api/transactions.ts'
import type { BuiltTransactions } from '../signing/built-transactions.ts'
import type { Demand, Signing } from '../signing/demand.ts'
import type { buildFields, SigningFlags, TermsField } from '../signing/flags.ts'
import type { Funds } from '../signing/funds.ts'
import type { ListNotes } from './column-flags.ts'
import type { JournalFields } from './journal.ts'
import type { KeyedJournal, KeyedKind, KeyedTerms } from './keyed-rows.ts'
import type { JournalHead } from './propose-rows.ts'

/** The answer of the API to the build of a row. */
export type BuiltRow = BuiltTransactions & { transaction: string }

/** The fields of every request, beside those of the row. */
type RowBody = { payer: string } & ReturnType<typeof buildFields>

export interface KeyedList<R extends { line: number }, D extends BuiltRow> {
  kind: KeyedKind
  file: string
  /** Where the journal is, if the user has named a place, and the end of its usual name. */
  place: string | undefined
  ending: string
  /** What must be the same in every run. */
  terms(payer: string, cluster: string | null): KeyedTerms
  /** More of the first line of a new journal: what `read` needs in every run. */
  head?: JournalHead
  /** Throws before anything is done if one of the rows cannot be made by this payer. */
  read(payer: string, head: Readonly<JournalFields>): Promise<{ rows: R[]; notes: ListNotes }>
  /** All that a row is, so that a changed row is another one. */
  contentOf(row: R): readonly unknown[]
  /** The account has the key `key`, or one that the API chooses. */
  build(body: RowBody, row: R, key: string | null): Promise<{ data: D }>
  /** The platform wallet signs; a list without it has no flag `--signed`. */
  sign?(
    body: { payer: string } & TermsField,
    row: R,
    options: { idempotencyKey: string },
  ): Promise<{ signature: string; account: string }>
  demand(of: Signing, row: R, made: { account: string; key: string | null }): Promise<Demand>
  accountIn(data: D): string
  /** What is done to these rows, as the start of a question: `Mint 3 NFTs into Apes`. */
  question(rows: readonly R[]): string
  /** Sorts the row that costs most to the front; the others are assumed to cost as much. */
  dearestFirst(a: R, b: R): number
  /** The funds of all rows, if they are not those of the dearest row times their number. */
  funds?(funds: Funds, rows: readonly R[], data: D): Funds
  /** Adds to the preview what only the API knows. */
  check?(of: Signing): void
  /** Lines of the preview about these rows, of which `first` is the dearest, and `data` its build. */
  lines(rows: readonly R[], built: { first: R; data: D; simulation: Simulation; payer: string }): string[]
  /** The name of the rows in the answer, and of the account of each. */
  names: { rows: string; account: string }
  /** The first fields of the answer. */
  fields(rows: readonly R[]): object
  record(row: R): Record<string, unknown>
  /** Columns of the table between the line and the account. */
  columns: readonly string[]
  /** The decimals of columns with raw units, which the table shows in whole tokens. */
  decimals?: Readonly<Record<string, number>>
}

export interface KeyedRun<R extends { line: number }, D extends BuiltRow> {
  list: KeyedList<R, D>
  payer: string
  journal: KeyedJournal
  isSigned: boolean
  flags: ListFlags
}

export type ListFlags = SigningFlags & {
  signed?: boolean
  idempotency_key?: string | undefined
  /** Whether a row that the platform wallet signed and no node has shown is signed again without proof. */
  sign_unseen?: boolean
  trust_journal?: boolean
}
