/** Differences between the databases that migrations depend on, and migrations that copy rows. */
import { type Kysely, type Migration, type QueryExecutorProvider, sql } from 'kysely'

export interface SchemaAddition {
  type: string
  name: string
  on: string
}

export const addition = ({ type, name, on }: SchemaAddition): string =>
  `the ${type} ${JSON.stringify(name)}${on === name ? '' : ` on ${on}`} is of no migration`

/** Types in SQL; all others that migrations use are the same in both databases. */
export interface SchemaDialect {
  blob: string
  /** A number that is a primary key and that the caller assigns. */
  number: string
  /** A primary key that the database assigns on insert; it always increases and is never reused. */
  sequence: string
  /** Whether requests are admitted in the database, by a function of its own language. */
  rateAdmission: boolean
}

/**
 * A migration whose `up` changes the schema alone where rows have to be copied: `fill` copies them in steps of some
 * milliseconds, each a transaction, so that a process that is stopped goes on where it was.
 */
export interface SteppedMigration extends Migration {
  /** Does the step after a place, which is empty for the first one; returns the place it came to, null after the last. */
  fill?(db: Kysely<never>, after: string): Promise<string | null>
}

export async function runStatements(db: QueryExecutorProvider, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
