/** The flags by which a person says what the columns of a list are, and the question about an unknown one. */
import type { ColumnChoices } from '../../src/merkle/column-plan.ts'
import { MerkleInputError, quoted } from '../../src/merkle/errors.ts'
import { type CommandOutcome, listOf, text, toggle } from '../cli/command.ts'
import type { Ui } from '../ui/ui.ts'
import { counted } from '../ui/words.ts'

/** They mean nothing without a list, which `--from` or `--list` names in some commands. */
const OF_LIST = { needs: ['from', 'list'] }
const COLUMN = { placeholder: 'COLUMN', ...OF_LIST }

export const columnFlags = {
  wallet_column: text('Column of the wallets: its name in the header, or its number', COLUMN),
  amount_column: text('Column of the amounts', COLUMN),
  ignore_column: listOf('Columns that mean nothing here, though they could decide about a row', COLUMN),
  unpaid_only: toggle('Of a receipt, take only the rows that it does not call paid', OF_LIST),
}

export interface ColumnInputs {
  wallet_column?: string | undefined
  amount_column?: string | undefined
  ignore_column?: readonly string[] | undefined
  unpaid_only?: boolean | undefined
}

export const columnChoices = (inputs: ColumnInputs & { mint?: string | undefined }): ColumnChoices => ({
  wallet: inputs.wallet_column,
  amount: inputs.amount_column,
  ignore: inputs.ignore_column,
  isUnpaidOnly: inputs.unpaid_only,
  mint: inputs.mint,
})

/** The flags that were given, as a part of another input. */
export const columnInputs = ({ wallet_column, amount_column, ignore_column, unpaid_only }: ColumnInputs) => ({
  wallet_column,
  amount_column,
  ignore_column,
  unpaid_only,
})

/**
 * Reads a list. If unknown columns are all that is wrong with it, a person is asked about each, and it is read again
 * without those that mean nothing. Unattended, the fault stays.
 */
export async function deciding<T>(
  ui: Ui,
  choices: ColumnChoices,
  read: (choices: ColumnChoices) => Promise<T>,
): Promise<T> {
  try {
    return await read(choices)
  } catch (error) {
    if (!(error instanceof MerkleInputError) || error.undecided.length === 0 || !ui.attended) throw error
    for (const [i, column] of error.undecided.entries()) {
      ui.warn(error.issues[i]?.message ?? column)
      const answer = await ui.ask({
        message: `The column ${column}`,
        choices: [
          { value: 'stop', label: 'may decide', about: 'stop here; nothing is done' },
          { value: 'ignore', label: 'means nothing here', about: `--ignore-column ${column}` },
        ],
        check: () => undefined,
      })
      if (answer !== 'ignore') throw error
    }
    ui.note(`Without this question: --ignore-column ${error.undecided.join(',')}`)
    return deciding(ui, { ...choices, ignore: [...(choices.ignore ?? []), ...error.undecided] }, read)
  }
}

/** Prints what a flag has decided about rows, which --quiet must not hide. */
export function sayDecisions(
  ui: Ui,
  name: string,
  { overruled, paidRows }: { overruled: readonly string[]; paidRows: number },
): void {
  if (overruled.length > 0)
    ui.warn(`${name}: --ignore-column leaves out ${overruled.map(quoted).join(', ')}, which would decide about rows`)
  if (paidRows > 0) ui.warn(`${name}: --unpaid-only leaves out ${counted(paidRows, 'paid row')} of this receipt`)
}

/** What was read of a list, and what was not; with `-o json` it is in the answer. */
export interface ListNotes {
  /** The column of wallet, amount and locked amount, by its name in the header or its number. */
  columns: Readonly<Record<string, string>>
  /** Columns of a CSV, or fields of JSON, that were ignored. */
  ignored_columns: readonly string[]
  /** Rows that begin with #. */
  comment_rows: number
  /** Rows of a receipt that are paid, which --unpaid-only leaves out. */
  paid_rows: number
}

export const listNotes = (of: {
  read: Readonly<Record<string, string>>
  ignored: readonly string[]
  comments?: number
  paidRows: number
}): ListNotes => ({
  columns: of.read,
  ignored_columns: of.ignored,
  comment_rows: of.comments ?? 0,
  paid_rows: of.paidRows,
})

/** The answer with what was read of the list in each of its records. */
export function withListNotes(outcome: CommandOutcome, notes: ListNotes): CommandOutcome {
  const { columns, ignored_columns, comment_rows, paid_rows } = notes
  const noted = (record: object) => ({ ...record, columns, ignored_columns, comment_rows, paid_rows })
  const { data } = outcome
  return { ...outcome, data: Array.isArray(data) ? data.map(noted) : noted(data as object) }
}
