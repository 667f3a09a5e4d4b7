/** Rows as lines of an export: the same text, and therefore the same hash, from either database. */
import { createHash } from 'node:crypto'
import { internal } from '../../platform/errors.ts'
import type { Cell, CellRow, TableName } from './whole.ts'

/**
 * A row's values as JSON in the order of the columns; bytes are `{"base64": …}`. Throws for values that JSON cannot
 * express.
 */
export function rowText(table: TableName, columns: readonly string[], row: CellRow): string {
  return JSON.stringify(columns.map((column) => portable(table, column, row[column] ?? null)))
}

function portable(table: TableName, column: string, value: Cell): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  if (value === null || typeof value === 'string' || Number.isSafeInteger(value)) return value
  throw internal(
    `${table}.${column} holds ${String(value)}, which is not text, a whole number or bytes: it cannot be exported`,
  )
}

/** Parses a line of `rowText`; null for any other line. */
export function parseRow(columns: readonly string[], text: string): CellRow | null {
  const values = JSON.parse(text) as unknown
  if (!Array.isArray(values) || values.length !== columns.length) return null
  const cells = values.map(portableCell)
  if (cells.includes(undefined)) return null
  return Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? null]))
}

function portableCell(value: unknown): Cell | undefined {
  if (value === null || typeof value === 'string' || Number.isSafeInteger(value)) return value as Cell
  const { base64 } = value as { base64?: unknown }
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined
}

interface TableHash {
  readonly rows: number
  add(text: string): void
  /** In hex. */
  digest(): string
}

const MODULUS = 1n << 256n

/**
 * Hashes the rows of a table in any order, as databases sort text differently: the sum of the rows' SHA-256, which also
 * counts equal rows.
 */
export function hashTable(): TableHash {
  let sum = 0n
  let rows = 0
  return {
    get rows() {
      return rows
    },
    add(text) {
      rows++
      sum = (sum + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)) % MODULUS
    },
    digest: () => sum.toString(16).padStart(64, '0'),
  }
}
