/** Detects a header in a CSV's first record, and the columns of wallet, amount and locked amount. */
import { keyFromBase58 } from './base58.ts'
import { type ColumnRole, roleOf, unitsOfName } from './column-names.ts'
import {
  type ColumnChoices,
  type ColumnPlan,
  columnNamed,
  type ListForm,
  type PlanFault,
  planColumns,
  RECIPIENT_FORM,
  roleIn,
  shownColumn,
  type WatchedColumn,
} from './column-plan.ts'
import { CsvScanner } from './csv-scanner.ts'
import { quoted } from './errors.ts'
import { unseenCharacter } from './file-faults.ts'
import { isNumeric } from './unread-columns.ts'

export interface CsvColumns {
  /**
   * Whether the first record is a header instead of a recipient; `comment` if a line that begins with # is the header.
   */
  header: boolean | 'comment'
  wallet: number
  amount: number
  /**
   * Column of the locked amount in the format of Jito and Streamflow (`pubkey,amount_unlocked,amount_locked,category`),
   * or -1.
   */
  locked: number
  /** Column of the round in an allowlist, or -1. */
  round: number
  /** What is read of the list. */
  form: ListForm
  /** Number of cells of the first record, which every record has. */
  width: number
  /** Columns without a name: a number in one is refused, because it may belong to the amount. */
  unnamed: readonly number[]
  /** Unnamed column that must have a text in every row, the category of Jito and Streamflow; or -1. */
  category: number
  /** The name of each column that is read, as in the header or by number. */
  read: Readonly<Partial<Record<ColumnRole, string>>>
  /** Columns that are not read, by name or number. */
  ignored: readonly string[]
  /** Those of them that decide, and that a flag leaves out. */
  overruled: readonly string[]
  /** Those of them whose cells must not decide anything. */
  watched: readonly WatchedColumn[]
}

/** The reason why the columns of a header cannot be determined. */
interface ColumnFault extends PlanFault {
  /** Byte offset, if the fault is not at the start of the cell. */
  offset?: number
}

/**
 * Determines the columns from the scanner's current (first) record, or from a header in a comment before it. `decimals`
 * is undefined for amounts in raw units.
 */
export function readColumns(
  scanner: CsvScanner,
  {
    decimals,
    form = RECIPIENT_FORM,
    ...choices
  }: ColumnChoices & { decimals?: number | undefined; form?: ListForm | undefined } = {},
): CsvColumns | ColumnFault {
  const columns = columnsOf(scanner, choices, form)
  const found = 'message' in columns ? columns : (unitsFault(columns, decimals) ?? columns)
  if (scanner.lastComment < 0 || ('header' in columns && columns.header)) return found
  const comment = new CsvScanner(scanner.bytes, { comments: false, findSeparator: true })
  comment.position = scanner.lastComment
  comment.next()
  if (comment.fault !== undefined || comment.cells !== scanner.cells) return found
  const texts = textsOf(comment)
  texts[0] = texts[0]?.replace(/^#\s*/, '') || '#'
  if (!['wallet', 'amount'].every((role) => texts.filter((text) => roleIn(form, text) === role).length === 1))
    return found
  const named = namedColumns(texts, choices, form)
  if ('message' in named) return named
  return unitsFault(named, decimals) ?? { ...named, header: 'comment' }
}

const textsOf = (scanner: CsvScanner): string[] => Array.from({ length: scanner.cells }, (_, i) => scanner.text(i))

/** Whether a record is a header, because no cell of it can be a wallet or an amount. */
export const isHeader = (texts: readonly string[]): boolean =>
  texts.some((text) => /\p{L}/u.test(text)) &&
  texts.every(
    (text) => text === '' || (text.length < 32 && !isNumeric(text) && (/\p{L}/u.test(text) || /^[#%]$/.test(text))),
  )

function columnsOf(scanner: CsvScanner, choices: ColumnChoices, form: ListForm): CsvColumns | ColumnFault {
  const texts = textsOf(scanner)
  const width = texts.length
  const hasRole = texts.some((text) => ['wallet', 'amount', 'locked', 'round'].includes(roleIn(form, text) ?? ''))
  const hasWallet = texts.some((text) => keyFromBase58(text) !== undefined)
  const isNamed = [choices.wallet, choices.amount].some((name) => name !== undefined && texts.includes(name))
  if (!hasWallet && (hasRole || isNamed || (width > 1 && isHeader(texts)))) {
    return unseenIn(scanner, texts) ?? namedColumns(texts, choices, form)
  }
  if (width === 1) return { cell: 0, message: oneColumnFault(texts[0] ?? '', form) }
  return numberedColumns(texts, choices, form)
}

function namedColumns(texts: readonly string[], choices: ColumnChoices, list: ListForm): CsvColumns | PlanFault {
  const plan = planColumns(texts, list, choices)
  if ('message' in plan) return plan
  const { cells } = plan
  return completed(texts, plan, {
    form: list,
    header: true,
    category: -1,
    unnamed: plan.watched.flatMap(({ cell }) =>
      texts[cell] === '' && cell > (cells.get('amount') ?? 0) ? [cell] : [],
    ),
  })
}

/** The columns of a file without a header: wallet and amount, or the four columns of Streamflow and Jito. */
function numberedColumns(texts: readonly string[], choices: ColumnChoices, list: ListForm): CsvColumns | PlanFault {
  const width = texts.length
  const isFourColumns =
    list.reads.includes('locked') &&
    choices.amount === undefined &&
    width === 4 &&
    keyFromBase58(texts[0] ?? '') !== undefined &&
    /^\d+(\.\d+)?$/.test(texts[2] ?? '') &&
    texts[3] !== '' &&
    !isNumeric(texts[3] ?? '')
  const none = texts.map(() => '')
  const left: number[] = []
  for (const typed of [choices.wallet, choices.amount, ...(choices.ignore ?? [])]) {
    if (typed !== undefined && columnNamed(none, typed) === undefined) {
      return {
        cell: 0,
        message: `the file has no header, so there is no column ${quoted(typed)}; name it by its number, or add a header`,
      }
    }
  }
  for (const typed of choices.ignore ?? []) left.push(columnNamed(none, typed) ?? 0)
  const cells = new Map<ColumnRole, number>([
    ['wallet', choices.wallet === undefined ? 0 : (columnNamed(none, choices.wallet) ?? 0)],
    ['amount', choices.amount === undefined ? 1 : (columnNamed(none, choices.amount) ?? 1)],
    ...(isFourColumns ? ([['locked', 2]] as const) : []),
  ])
  if (cells.get('wallet') === cells.get('amount'))
    return { cell: 0, message: 'the same column cannot be the wallet and the amount' }
  const others = [...none.keys()].filter((cell) => ![...cells.values()].includes(cell))
  const watched = others
    .filter((cell) => !left.includes(cell))
    .map((cell) => ({ cell, name: shownColumn(none, cell), role: undefined }))
  const plan = { cells, watched, ignored: others.map((cell) => shownColumn(none, cell)), overruled: [] }
  return completed(texts, plan, {
    form: list,
    header: false,
    category: isFourColumns ? 3 : -1,
    unnamed: watched.map(({ cell }) => cell),
  })
}

function completed(
  texts: readonly string[],
  { cells, ...plan }: ColumnPlan,
  found: Pick<CsvColumns, 'form' | 'header' | 'category' | 'unnamed'>,
): CsvColumns {
  const shown = (cell: number) => (found.header ? shownColumn(texts, cell) : `column ${cell + 1}`)
  return {
    ...found,
    ...plan,
    wallet: cells.get('wallet') ?? 0,
    amount: cells.get('amount') ?? 1,
    locked: cells.get('locked') ?? -1,
    round: cells.get('round') ?? -1,
    width: texts.length,
    read: Object.fromEntries([...cells].map(([role, cell]) => [role, shown(cell)])),
  }
}

/** The fault of an amount whose name says other units than it is read in. */
function unitsFault({ read, amount }: CsvColumns, decimals: number | undefined): ColumnFault | undefined {
  const message = unitsMessage(read.amount ?? '', decimals)
  return message === undefined ? undefined : { cell: amount, message }
}

/** Why an amount of this name cannot be read with these decimals; undefined if it can. */
export function unitsMessage(name: string, decimals: number | undefined): string | undefined {
  const units = unitsOfName(name)
  if (units === undefined || (units === 'whole tokens') === (decimals !== undefined)) return undefined
  const way = units === 'raw units' ? 'read the list with --raw, or without --decimals' : 'give --decimals N'
  return `${quoted(name)} holds ${units} by its name: ${way}, or rename it to amount`
}

/** An invisible character in a name: `wallet` followed by a no-break space is another name. */
function unseenIn(scanner: CsvScanner, texts: readonly string[]): ColumnFault | undefined {
  const cell = texts.findIndex((text) => unseenCharacter(text) !== undefined)
  const unseen = unseenCharacter(texts[cell] ?? '')
  if (unseen === undefined) return undefined
  const offset = (scanner.starts[cell] ?? 0) + Buffer.byteLength((texts[cell] ?? '').slice(0, unseen.index))
  return { cell, offset, message: `the header has ${unseen.name} here; remove it` }
}

function oneColumnFault(text: string, form: ListForm): string {
  const other = text.includes('|') ? ', not by "|"' : ''
  return `only one column; a row is ${rowOf(form)} separated by a comma, a semicolon or a tab${other}`
}

/** How a row of the list is written. */
export const rowOf = ({ row = 'wallet,amount' }: ListForm): string => row

/**
 * Describes everything that was read or ignored besides wallets and amounts, in sentences, so that nothing happens
 * silently.
 */
export function readingNotes({
  columns,
  separator,
  comments,
}: {
  columns: CsvColumns
  separator: string
  comments: number
}): string[] {
  const { header, amount, locked, category, ignored, read } = columns
  const notes: string[] = []
  if (header === 'comment') notes.push('the line that begins with # is read as the header')
  if (category >= 0) notes.push(`column ${amount + 1} is read as the amount, column ${locked + 1} as the locked amount`)
  if (separator !== ',') notes.push(`cells are separated by ${separator === ';' ? 'semicolons' : 'tabs'}`)
  const usual = roleOf(read.amount ?? '') === 'amount' && roleOf(read.wallet ?? '') === 'wallet'
  const taken = header ? [`read: ${readWords(read)}`] : []
  if (ignored.length > 0) notes.push([`not read: ${ignored.map(quoted).join(', ')}`, ...taken].join('; '))
  else if (!usual) notes.push(...taken)
  if (comments > 0)
    notes.push(
      `${comments} ${comments === 1 ? 'row begins' : 'rows begin'} with # and ${comments === 1 ? 'is a comment' : 'are comments'}`,
    )
  return notes
}

/** `the wallet from "Address", the amount from "Amount"`. */
export const readWords = (read: CsvColumns['read']): string =>
  Object.entries(read)
    .map(([role, name]) => `the ${role === 'locked' ? 'locked amount' : role} from ${quoted(name)}`)
    .join(', ')
