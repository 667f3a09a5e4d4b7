/** A whole database in one transaction: a snapshot to read, or an empty database to fill. */
import type { Tables } from '../schema.ts'
import type { Store, Tx } from '../store.ts'

export type TableName = keyof Tables
export type Cell = string | number | Buffer | null
export type CellRow = Record<string, Cell>

export interface TableSize {
  rows: number
  /** False if the number of rows is the database's own estimate, for a large table. */
  exact: boolean
  /** Bytes on disk with indexes. */
  bytes: number
}

export interface Whole {
  readonly kind: Store['kind']
  readonly tx: Tx
  /** Names of the table's columns in alphabetical order, the same on both databases. */
  columns(table: TableName): Promise<readonly string[]>
  /** Reads every row; memory holds a few megabytes at a time, or one larger row. */
  rows(table: TableName, columns: readonly string[]): AsyncIterable<CellRow>
  /** The last number that the table has given to a row, including removed rows; null for a table without numbers. */
  lastNumber(table: TableName): Promise<number | null>
  /** Continues the numbering of rows after `last`. */
  continueAfter(table: TableName, last: number): Promise<void>
  sizes(): Promise<Map<string, TableSize>>
  /** Triggers and views, described in words; migrations create none. */
  additions(): Promise<string[]>
  /** Bytes of the database, and of its write-ahead log if it has its own. */
  bytes(): Promise<{ database: number; wal: number | null }>
}

/** `read` sees one state while others write; `fill` locks all others out until its commit. */
export type WholeMode = 'read' | 'fill'
