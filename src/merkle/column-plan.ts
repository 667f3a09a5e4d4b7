/** Decides what each named column of a list is for: read, looked at for what it says about a row, or left out with a note. */
import { COLUMN_NAMES, type ColumnRole, plainName, roleByWord, roleOf } from './column-names.ts'
import { quoted } from './errors.ts'

/** What a person says about the columns of a list: names as in the header, or numbers from 1. */
export interface ColumnChoices {
  wallet?: string | undefined
  amount?: string | undefined
  ignore?: readonly string[] | undefined
  /** Takes only the rows of a receipt that are not paid. */
  isUnpaidOnly?: boolean | undefined
  /** The mint that every row must name, if a column names one. */
  mint?: string | undefined
  /** Unix milliseconds; a lockup that is over decides nothing. The default is now. */
  now?: number | undefined
}

/** What a command reads of a list. */
export interface ListForm {
  reads: readonly ColumnRole[]
  needs: readonly ColumnRole[]
  /** Columns that it needs nothing of, though they decide in other lists. */
  leaves?: readonly ColumnRole[]
  /** What to do with the columns of a schedule, which this list does not read. */
  schedule?: string
  /** Names, as of `plainName`, that are known in this list alone. */
  names?: ReadonlyMap<string, ColumnRole>
  /** How a row is written, for messages; the default is `wallet,amount`. */
  row?: string
}

/** A column that is not read, and must say nothing that decides. */
export interface WatchedColumn {
  cell: number
  /** As in the header, or `column 3`. */
  name: string
  /** Undefined for an unknown name, whose cells decide. */
  role: ColumnRole | undefined
}

export interface ColumnPlan {
  /** The cell of each role that is read. */
  cells: ReadonlyMap<ColumnRole, number>
  watched: readonly WatchedColumn[]
  /** The names of all columns that are not read. */
  ignored: readonly string[]
  /** Those of them that would decide, and that a flag leaves out. */
  overruled: readonly string[]
}

/** What is wrong with a header. */
export interface PlanFault {
  cell: number
  message: string
}

const AIRDROP_SCHEDULE =
  '`svc airdrops launch --ends-at` vests the column locked for all rows, and `svc locks create --from` gives each row its own schedule'

/** Recipients of airdrops, sends, mints and burns. */
export const RECIPIENT_FORM: ListForm = {
  reads: ['wallet', 'amount', 'locked'],
  needs: ['wallet', 'amount'],
  schedule: AIRDROP_SCHEDULE,
}

/** The allowlist of a raise: the amount is the most that a wallet may pay in its round. */
export const ALLOWLIST_FORM: ListForm = {
  reads: ['wallet', 'amount', 'round'],
  needs: ['wallet', 'amount'],
  names: new Map([
    ...['cap', 'deposit cap', 'max deposit', 'limit'].map((name) => [plainName(name), 'amount'] as const),
    ['round', 'round'],
  ]),
  row: 'wallet,cap',
}

/** What a column of this very name is in a list; undefined for an unknown one. */
export const roleIn = ({ names }: ListForm, name: string): ColumnRole | undefined =>
  names?.get(plainName(name)) ?? roleOf(name)

export const SCHEDULE_ROLES: readonly ColumnRole[] = [
  ...(['start', 'cliff', 'cliff_months', 'cliff_days', 'cliff_amount', 'end', 'periods', 'frequency'] as const),
  ...(['period_amount', 'lockup', 'locked'] as const),
]

/** The flag that says which column a role is. */
const flagOf = (role: ColumnRole): string | null =>
  role === 'wallet' ? '--wallet-column' : role === 'amount' ? '--amount-column' : null

/** How the header names a column; one without a name has its number. */
export const shownColumn = (names: readonly string[], cell: number): string => names[cell] || `column ${cell + 1}`

const nounOf = (role: ColumnRole): string => (role === 'locked' ? 'locked amount' : role.replace('_', ' '))

/**
 * Plans the columns of a header. A wallet column that is not known is taken if it is the only other one beside the
 * amount, because its cells prove it.
 */
export function planColumns(names: readonly string[], form: ListForm, choices: ColumnChoices): ColumnPlan | PlanFault {
  const chosen = new Map<ColumnRole, number>()
  for (const role of ['wallet', 'amount'] as const) {
    const typed = choices[role]
    if (typed === undefined) continue
    const cell = columnNamed(names, typed)
    if (cell === undefined) return { cell: 0, message: noColumn(flagOf(role) ?? '', typed, names) }
    if (!form.reads.includes(role)) return { cell, message: `this list has no ${role} that is read` }
    chosen.set(role, cell)
  }
  if (chosen.has('wallet') && chosen.get('wallet') === chosen.get('amount'))
    return { cell: chosen.get('wallet') ?? 0, message: 'the same column cannot be the wallet and the amount' }
  const left = new Set<number>()
  for (const typed of choices.ignore ?? []) {
    const cell = columnNamed(names, typed)
    if (cell === undefined) return { cell: 0, message: noColumn('--ignore-column', typed, names) }
    left.add(cell)
  }
  const isFree = (cell: number) => !left.has(cell) && ![...chosen.values()].includes(cell)
  const cells = new Map<ColumnRole, number>()
  for (const role of form.reads) {
    const at = chosen.get(role)
    const found = names.flatMap((name, cell) => (roleIn(form, name) === role && isFree(cell) ? [cell] : []))
    const [first, second] = at === undefined ? found : [at]
    if (first !== undefined && second !== undefined) return { cell: second, message: twice(names, role, found) }
    if (first !== undefined) cells.set(role, first)
  }
  const taken = () => [...cells.values()]
  if (form.needs.includes('wallet') && !cells.has('wallet') && names.length === 2 && cells.has('amount')) {
    const other = 1 - (cells.get('amount') ?? 0)
    if (isFree(other) && roleIn(form, names[other] ?? '') === undefined) cells.set('wallet', other)
  }
  const missing = form.needs.find((role) => !cells.has(role))
  if (missing !== undefined) return { cell: 0, message: noRole(missing, names, taken()) }
  return { cells, ...unread(names, form, { chosen, left, taken: taken() }) }
}

/** Sorts the columns that are not read. */
function unread(
  names: readonly string[],
  form: ListForm,
  of: { chosen: ReadonlyMap<ColumnRole, number>; left: ReadonlySet<number>; taken: readonly number[] },
): Pick<ColumnPlan, 'watched' | 'ignored' | 'overruled'> {
  const watched: WatchedColumn[] = []
  const ignored: string[] = []
  const overruled: string[] = []
  for (const cell of names.keys()) {
    if (of.taken.includes(cell)) continue
    const name = shownColumn(names, cell)
    const role = roleIn(form, name) ?? roleByWord(name)
    ignored.push(name)
    const isChosen = role !== undefined && of.chosen.has(role)
    const decides = role !== undefined && COLUMN_NAMES[role].weight === 'decides' && !form.leaves?.includes(role)
    if (of.left.has(cell)) {
      if (decides) overruled.push(name)
    } else if (!isChosen && (role === undefined || decides)) watched.push({ cell, name, role })
  }
  return { watched, ignored, overruled }
}

/** The column of a typed name: the very name first, then a similar one, then a number from 1. */
export function columnNamed(names: readonly string[], typed: string): number | undefined {
  const exact = names.indexOf(typed.trim())
  if (exact >= 0) return exact
  const plain = plainName(typed)
  const similar = names.flatMap((name, cell) => (plainName(name) === plain && plain !== '' ? [cell] : []))
  if (similar.length > 0) return similar.length === 1 ? similar[0] : undefined
  const number = /^(?:column )?(\d{1,4})$/.exec(typed.trim())?.[1]
  return number !== undefined && Number(number) >= 1 && Number(number) <= names.length ? Number(number) - 1 : undefined
}

const listed = (names: readonly string[]) => names.map((_, cell) => quoted(shownColumn(names, cell))).join(', ')

const noColumn = (flag: string, typed: string, names: readonly string[]) =>
  `${flag}: there is no column ${quoted(typed)}, or more than one; the columns are ${listed(names)}`

function twice(names: readonly string[], role: ColumnRole, cells: readonly number[]): string {
  const flag = flagOf(role)
  const both = cells.map((cell) => shownColumn(names, cell)).join(' and ')
  const way = flag === null ? 'remove one, or leave it out with --ignore-column' : `say which with ${flag}`
  return `${both} could both be the ${nounOf(role)}: ${way}`
}

function noRole(role: ColumnRole, names: readonly string[], taken: readonly number[]): string {
  const flag = flagOf(role)
  const others = names.flatMap((_, cell) => (taken.includes(cell) ? [] : [quoted(shownColumn(names, cell))]))
  if (others.length === 0) return `no column is known as the ${nounOf(role)}: name one ${role}`
  const way = flag === null ? `name it ${role}` : `say which with ${flag} NAME, or name it ${role}`
  return `no column is known as the ${nounOf(role)} (${others.join(', ')}): ${way}`
}
