/** What a migration must be told about the database it runs on. */
import type { ColumnDataType, ColumnDefinitionBuilder } from 'kysely'

export interface SchemaDialect {
  blob: ColumnDataType
  /** A number given by the database on insert, ever growing, never given twice. */
  sequence: { type: ColumnDataType; build(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder }
}
