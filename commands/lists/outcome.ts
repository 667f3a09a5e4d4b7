/** Reports the outcome of every row of a list: as records, as a table and as counts. */
import type { CommandOutcome } from '../cli/command.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'

/** The most rows that a terminal shows of a long list; for a longer one it shows only the counts. */
const MOST_LISTED = 40

interface ListReport<R extends { status: string }> {
  rows: readonly R[]
  /** Without it, the chain alone shows what is done. */
  journal?: string
  /** Each status, if needed with the name of its count in the data and its words; the first is always shown. */
  statuses: readonly (R['status'] | readonly [status: R['status'], field: string, words: string])[]
  /** The first fields of the data. */
  fields?: object
  /** The name of the rows in the data, and the record of each. */
  records: readonly [name: string, record: (row: R) => object]
  columns: readonly string[]
  cells(row: R): readonly unknown[]
  /** The file of rows that have a line and an error, which are then the notes. */
  file?: string
  /** One line that a person must know about a row; null for none. */
  noteOf?(row: R): string | null
  /** Where all notes are if some are not shown, such as `--out FILE has them all`. */
  allNotes?: string
  /** Whether the list may be longer than a terminal should show. */
  isLong?: boolean
  notes: readonly string[]
  /** By default, whether no row has failed or is not known. */
  isDone?: boolean
}

/** The words for counts of statuses whose names are not enough. */
const WORDS: Readonly<Record<string, string>> = {
  unknown: 'not known',
  failed: 'failed: run the same command again for the rest',
}

export function rowsOutcome<R extends { status: string }>(report: ListReport<R>): CommandOutcome {
  const {
    rows,
    journal,
    records,
    cells,
    isLong = true,
    isDone = rows.every(({ status }) => status !== 'failed' && status !== 'unknown'),
  } = report
  const counts = report.statuses.map((each, i) => {
    const named = typeof each === 'string' ? ([each, each.replaceAll(' ', '_'), WORDS[each] ?? each] as const) : each
    const [status, field, words] = named
    const count = rows.filter((row) => row.status === status).length
    return { field, count, text: count === 0 && i > 0 ? [] : [`${count} ${words}`] }
  })
  const said = `${counts.flatMap(({ text }) => text).join(', ')} of ${rows.length}`
  const notes = rows.flatMap(
    (row) => (report.noteOf === undefined ? errorOf(row, report.file) : report.noteOf(row)) ?? [],
  )
  const isCut = isLong && rows.length > MOST_LISTED
  const [name, record] = records
  return {
    data: {
      ...report.fields,
      ...(journal === undefined ? {} : { journal }),
      total: rows.length,
      ...Object.fromEntries(counts.map(({ field, count }) => [field, count])),
      [name]: rows.map(record),
    },
    rows: { columns: report.columns, rows: rows.map(cells) },
    ...(isCut ? { text: said } : {}),
    notes: [
      ...(isLong ? firstNotes(notes, report.allNotes) : notes),
      ...(journal === undefined ? (isCut ? [] : [said]) : [`${isCut ? '' : `${said}. `}Journal: ${journal}`]),
      ...report.notes,
    ],
    exitCode: isDone ? EXIT.done : EXIT.failed,
  }
}

/** As many notes as a person reads, and how many are not shown; `all` says where they are. */
export function firstNotes(notes: readonly string[], all?: string): string[] {
  const hidden = notes.length - MOST_LISTED
  const more = `… and ${hidden} more${all === undefined ? '' : `: ${all}`}`
  return [...notes.slice(0, MOST_LISTED), ...(hidden > 0 ? [more] : [])]
}

function errorOf(row: object, file = ''): string | null {
  const { line, error = null } = row as { line?: number; error?: string | null }
  return error === null ? null : `${file}:${line}:1: ${printable(error)}`
}
