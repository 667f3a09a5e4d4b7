/** Differences between the databases for migrations, and migrations that copy rows. */
import { type Kysely, type Migration, type QueryExecutorProvider, sql } from 'kysely'

export interface SchemaAddition {
  type: string
  name: string
  on: string
}

export const addition = ({ type, name, on }: SchemaAddition): string =>
  `the ${type} ${JSON.stringify(name)}${on === name ? '' : ` on ${on}`} does not come from a migration`

/** SQL types. All others that migrations use are the same in both databases. */
export interface SchemaDialect {
  blob: string
  /** A numeric primary key that the caller assigns. */
  number: string
  /** A primary key that the database assigns on insert; it always increases and is never reused. */
  sequence: string
  /** Whether the database itself admits requests, with a stored function. */
  rateAdmission: boolean
}

/**
 * A migration that copies rows. `up` only changes the schema. `fill` copies the rows in steps of some milliseconds,
 * each in its own transaction, so that a stopped process continues where it was.
 */
export interface SteppedMigration extends Migration {
  /**
   * Does the step after a place, which is empty for the first one. Returns the new place, or null after the last step.
   */
  fill?(db: Kysely<never>, after: string): Promise<string | null>
}

export async function runStatements(db: QueryExecutorProvider, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
