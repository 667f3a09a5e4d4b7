/** A whole database in one transaction: a snapshot that is read, or an empty database that is filled. */
import type { Tables } from '../schema.ts'
import type { Store, Tx } from '../store.ts'

export type TableName = keyof Tables
export type Cell = string | number | Buffer | null
export type CellRow = Record<string, Cell>

export interface TableSize {
  rows: number
  /** False where a large table's rows are the database's own estimate. */
  exact: boolean
  /** Bytes on disk with indexes. */
  bytes: number
}

export interface Whole {
  readonly kind: Store['kind']
  readonly tx: Tx
  /** Names of the table's columns in alphabetical order, which is the same in both databases. */
  columns(table: TableName): Promise<readonly string[]>
  /** Reads every row; memory holds some megabytes at a time, or one row that is larger. */
  rows(table: TableName, columns: readonly string[]): AsyncIterable<CellRow>
  /** The last number that the table has given to a row, removed ones included; null for a table without numbers. */
  lastNumber(table: TableName): Promise<number | null>
  /** Makes the next row's number follow `last`. */
  continueAfter(table: TableName, last: number): Promise<void>
  sizes(): Promise<Map<string, TableSize>>
  /** Triggers and views, as phrases; no migration makes one. */
  additions(): Promise<string[]>
  /** Bytes of the database, and of its write-ahead log where that is this database's own. */
  bytes(): Promise<{ database: number; wal: number | null }>
}

/** `read` sees one state while others write; `fill` keeps everyone else out until it is committed. */
export type WholeMode = 'read' | 'fill'
