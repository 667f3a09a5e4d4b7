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
      '697ad4c37790d5f638a5c835ff2ee8ae541d608790c1e2f15a526703706b4d19',
    )
    expect(sha256(firstStatements(postgresSchema))).toBe(
      'f774a82462e44ec13421e79b62cd9ae574059a5e831aeaa9bb0abc263a4ad229',
    )
  })
})
