/** The first migration was released with 0.1.0, and stays as it was. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { firstStatements } from '../../src/store/migrations/0001-first/index.ts'
import { postgresSchema } from '../../src/store/postgres/store.ts'
import { migrationNames } from '../../src/store/schema.ts'
import { sqliteSchema } from '../../src/store/sqlite/connection.ts'

/** Without comments, which may be reworded. */
const sha256 = (statements: readonly string[]) =>
  createHash('sha256')
    .update(statements.join(';\n').replace(/^ *--.*\n/gm, ''))
    .digest('hex')

describe('the migration 0001-first', () => {
  it('is the first one, and its statements never change: a change of the schema is a new migration', () => {
    expect(migrationNames()[0]).toBe('0001-first')
    expect(sha256(firstStatements(sqliteSchema))).toBe(
      '33c5e5dcd7c2d78af2dc5cd5241957288636951531d8e79f5962011688662244',
    )
    expect(sha256(firstStatements(postgresSchema))).toBe(
      'bdb44f40451239ae5f594018855a6fe2d04df588561b66ffd5296dffef5b4245',
    )
  })
})
