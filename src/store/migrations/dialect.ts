/** Differences between the databases that migrations depend on. */
import type { ColumnDataType, ColumnDefinitionBuilder } from 'kysely'

export interface SchemaAddition {
  type: string
  name: string
  on: string
}

export const addition = ({ type, name, on }: SchemaAddition): string =>
  `the ${type} ${JSON.stringify(name)}${on === name ? '' : ` on ${on}`} is of no migration`

export interface SchemaDialect {
  blob: ColumnDataType
  /** A number that the database assigns on insert; it always increases and is never reused. */
  sequence: { type: ColumnDataType; build(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder }
  /** Whether requests are admitted in the database, by a function of its own language. */
  rateAdmission: boolean
}
