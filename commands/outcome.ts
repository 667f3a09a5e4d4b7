/** What a command returns, and commands/ui shows. */

export interface Rows {
  columns: readonly string[]
  rows: readonly (readonly unknown[])[]
}

export interface CommandOutcome {
  /** The `data` of the answer, which `-o json` prints. */
  data: unknown
  /** The rows that `table` and `plain` show; without them, the data is shown field by field. */
  rows?: Rows
  /** Text that `table` shows instead of everything else, below `table` if that is set too. */
  text?: string
  /** The fields that `table` shows instead of the data and the rows. */
  record?: Record<string, unknown>
  /** Lines that `table` shows below everything else. */
  drawing?: readonly string[]
  /** The rows that `table` shows instead of `rows`, with other columns or amounts in whole tokens. */
  table?: Rows
  /** Whether the answer is one page of a longer list. */
  hasMore?: boolean
  /** Notes that are printed on stderr after the answer. */
  notes?: readonly string[]
  exitCode?: number
}
