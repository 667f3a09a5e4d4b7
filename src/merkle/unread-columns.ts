/**
 * Looks at the columns of a list that are not read: a cell that says whether its row is paid, in which token, in which
 * units or when is a fault, and so is an unknown column of numbers, dates or addresses.
 */
import { shellQuoted } from '../platform/shell-quoted.ts'
import { keyFromBase58 } from './base58.ts'
import { COLUMN_NAMES, wordsOf } from './column-names.ts'
import { type ColumnChoices, type ListForm, SCHEDULE_ROLES, type WatchedColumn } from './column-plan.ts'
import { quoted } from './errors.ts'

/** Whether a cell's text is a number in any notation, with separators, a sign, a currency or a percent sign. */
export const isNumeric = (text: string): boolean =>
  (/\d/.test(text) && /^[\s\d.,'’_+\-$€£¥%]+$/.test(text)) || /^[\d.,]+e[+-]?\d+$/i.test(text)

const DATE =
  /^(?:\d{4}[-/]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ,]|$)|^\d{1,2}:\d{2}|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|^\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i
const BOOLEAN = /^(?:yes|no|true|false|✓|✔|✅|✗|✘|❌)$/i
const YES = /^(?:yes|y|true|1|x|✓|✔|✅|ok|okay)$/i
const NO = /^(?:no|n|false|0|-|✗|✘|❌)$/i
const NONE = /^(?:no|none|null|nil|n\/a|-|0|false|no error|ok)$/i
const PAID_WORDS =
  '(?:already )?(?:paid|sent|have claimed|claimed|success|successful|succeeded|confirmed|finalized|finalised|done|complete|completed|processed|settled|distributed|delivered|transferred|executed|ok)'
/** Begins like a word about payment. "sent back" and "paid half" do, and are neither paid nor unpaid. */
const ABOUT_PAYMENT = new RegExp(`^${PAID_WORDS}\\b`, 'i')
const PAID = new RegExp(`^${PAID_WORDS}(?: already)?[.!]?$`, 'i')
/** The whole text, because "failed to confirm" may be paid. */
const UNPAID = /^(?:unpaid|not paid|not sent|to send|to pay|to do|todo|open|failed|failure|error|left out|skipped)$/i
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,90}$/
const SPAN = /^\d+ ?(?:s|sec|min|h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)$/i

/** What the cells of an unknown column hold, if that decides; undefined for plain text. */
export function kindOf(text: string): string | undefined {
  if (DATE.test(text) || SPAN.test(text)) return 'dates'
  if (isNumeric(text)) return 'numbers'
  if (/^0x[0-9a-f]{16,}$/i.test(text) || (text.length >= 32 && keyFromBase58(text) !== undefined)) return 'addresses'
  if (SIGNATURE.test(text)) return 'signatures'
  if (BOOLEAN.test(text)) return 'yes or no'
  if (ABOUT_PAYMENT.test(text) || UNPAID.test(text)) return 'words about payment'
  return /^[[{]/.test(text) ? 'nested values' : undefined
}

type Verdict = 'paid' | 'unpaid' | 'unclear'
/** What one cell says; weak if it is empty, which another column of the row outweighs. */
interface Said {
  verdict: Verdict
  isWeak: boolean
}

/** What a cell of a receipt says about its row. */
function saidBy(name: string, text: string): Said {
  const strong = (verdict: Verdict): Said => ({ verdict, isWeak: false })
  if (wordsOf(name).some((word) => /^(?:err|errors?|fail|failed|failure)$/.test(word))) {
    if (text === '') return { verdict: 'paid', isWeak: true }
    return strong(NONE.test(text) ? 'paid' : 'unpaid')
  }
  if (text === '') return { verdict: 'unpaid', isWeak: true }
  if (SIGNATURE.test(text) || DATE.test(text) || YES.test(text) || PAID.test(text)) return strong('paid')
  if (NO.test(text) || UNPAID.test(text)) return strong('unpaid')
  return strong('unclear')
}

/** The verdict of a row's cells: a row that anything calls paid, and anything else unpaid, is unclear. */
function verdictOf(all: readonly Said[]): Verdict {
  const strong = all.filter(({ isWeak }) => !isWeak)
  const verdicts = new Set((strong.length > 0 ? strong : all).map(({ verdict }) => verdict))
  const [only] = verdicts
  return verdicts.size === 1 && only !== undefined ? only : 'unclear'
}

/** Counts a fault at a byte offset; its message is created only if the fault is stored. `column` if a flag can decide. */
type RefuseColumn = (offset: number, message: () => string, column?: string) => void

/** A row's cells, by their number. */
interface WatchedRow {
  offset: number
  text(cell: number): string
  offsetOf(cell: number): number
}

const SOLANA = /^sol(?:ana)?$/i

export class UnreadColumns {
  private watched: readonly WatchedColumn[] = []
  private paid: readonly WatchedColumn[] = []
  private readonly form: ListForm
  private readonly choices: ColumnChoices
  private readonly refuse: RefuseColumn
  /** Columns whose fault is reported already. */
  private readonly refused = new Set<number>()
  /** What the unknown columns hold, and where it was seen first. */
  private readonly held = new Map<number, { kinds: Set<string>; offset: number; texts: string[] }>()
  private readonly counts = { paid: 0, unpaid: 0, unclear: 0 }
  private offset: number | undefined
  /** Of token columns without a mint to compare: the first value. */
  private readonly values = new Map<number, string>()

  constructor(
    watched: readonly WatchedColumn[],
    form: ListForm,
    { choices, refuse }: { choices: ColumnChoices; refuse: RefuseColumn },
  ) {
    this.watch(watched)
    this.form = form
    this.choices = choices
    this.refuse = refuse
  }

  /** Looks at these columns from now on: later objects of JSON may have more fields. */
  watch(watched: readonly WatchedColumn[]): void {
    this.watched = watched
    this.paid = watched.filter(({ role }) => role === 'paid')
  }

  /** The rows that a receipt calls paid, and that were left out. */
  get leftOut(): number {
    return this.choices.isUnpaidOnly ? this.counts.paid : 0
  }

  /** Looks at a row; false if it is not to be read, because it is paid. */
  isRead(row: WatchedRow): boolean {
    // JSON objects before the first one that has the field count as unpaid.
    if (this.paid.length === 0) this.counts.unpaid++
    else {
      this.offset ??= row.offsetOf(this.paid[0]?.cell ?? 0)
      const verdict = verdictOf(this.paid.map(({ cell, name }) => saidBy(name, row.text(cell))))
      this.counts[verdict]++
      if (this.choices.isUnpaidOnly && verdict === 'unclear') {
        const [column] = this.paid
        this.refuse(row.offsetOf(column?.cell ?? 0), () => this.unclearText(row))
      }
      if (this.choices.isUnpaidOnly && verdict === 'paid') return false
    }
    for (const column of this.watched) {
      if (column.role !== 'paid' && !this.refused.has(column.cell)) this.look(column, row)
    }
    return true
  }

  private unclearText(row: WatchedRow): string {
    const said = this.paid.map(({ cell, name }) => `${name} ${quoted(row.text(cell))}`).join(', ')
    return `this row is neither clearly paid nor clearly unpaid (${said}): look at its transaction, then write paid or unpaid as its status`
  }

  private look(column: WatchedColumn, row: WatchedRow): void {
    const { cell, name, role } = column
    const text = row.text(cell)
    const fault = (message: string) => {
      this.refused.add(cell)
      this.refuse(row.offsetOf(cell), () => message)
    }
    if (role === 'token') this.lookAtToken(column, text, fault)
    if (text === '' || role === 'token') return
    if (role === undefined) {
      const kind = kindOf(text)
      if (kind === undefined) return
      const held = this.held.get(cell) ?? { kinds: new Set(), offset: row.offsetOf(cell), texts: [] }
      if (held.texts.length < 3) held.texts.push(text)
      held.kinds.add(kind)
      this.held.set(cell, held)
      return
    }
    const fit = `leave it out with --ignore-column ${shellQuoted(name)} if it means nothing here`
    if (role === 'network') {
      if (!SOLANA.test(text))
        fault(`the row is for the network ${quoted(text)}, and every row must be for Solana; ${fit}`)
    } else if (role === 'lockup' && this.isOver(text)) return
    else if (SCHEDULE_ROLES.includes(role))
      fault(
        `${quoted(name)} is the schedule of a row, which this list does not read: ${this.form.schedule ?? fit}; ${fit}`,
      )
    else if (role === 'chosen') fault(`${quoted(name)} says which rows are meant: remove the others, then ${fit}`)
    else if (role === 'units') fault(`${quoted(name)} says the units of a row: give them by flag, then ${fit}`)
    else fault(`${quoted(name)} says ${COLUMN_NAMES[role].says}, which is not read here; ${fit}`)
  }

  private lookAtToken({ cell, name }: WatchedColumn, text: string, fault: (message: string) => void): void {
    const mint = this.choices.mint ?? this.values.get(cell)
    if (mint === undefined) this.values.set(cell, text)
    if (text === mint || (mint === undefined && text !== '')) return
    const named = text === '' ? 'names no token' : `is for the token ${quoted(text)}`
    fault(
      `the row ${named}, and every row must name ${mint ?? 'one'}: make a list for each token, or leave the column out with --ignore-column ${shellQuoted(name)}`,
    )
  }

  /** Whether a lockup is over, so that it locks nothing. */
  private isOver(text: string): boolean {
    const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2}))?$/i.test(text) ? Date.parse(text) : Number.NaN
    return at <= (this.choices.now ?? Date.now())
  }

  /** Reports what only the whole list shows. */
  finish(): void {
    const { isUnpaidOnly } = this.choices
    for (const { cell, name } of this.watched) {
      const held = this.held.get(cell)
      if (held === undefined) continue
      const { kinds, offset, texts } = held
      this.refuse(offset, () => unknownText(name, { cell, kinds, texts }), name)
    }
    const { paid, unpaid, unclear } = this.counts
    if (this.paid.length === 0) {
      if (isUnpaidOnly)
        this.refuse(0, () => '--unpaid-only needs a column that says which rows are paid, such as status')
      return
    }
    const offset = this.offset ?? 0
    const names = this.paid.map(({ name }) => quoted(name)).join(', ')
    if (isUnpaidOnly && unpaid === 0 && unclear === 0) {
      this.refuse(offset, () => `nothing is left to pay: ${paid === 1 ? 'its row is' : `all ${paid} rows are`} paid`)
    }
    if (isUnpaidOnly) return
    const all = paid + unpaid + unclear
    const more = unclear === 0 ? '' : `, and ${unclear} may be`
    this.refuse(
      offset,
      () =>
        `this is a receipt: ${names} says that ${paid} of ${all} rows ${paid === 1 ? 'is' : 'are'} paid${more}. --unpaid-only takes only the others; if ${names} is not about payment, --ignore-column ${this.paid.map(({ name }) => shellQuoted(name)).join(',')} leaves it out`,
    )
  }
}

function unknownText(
  name: string,
  { cell, kinds, texts }: { cell: number; kinds: ReadonlySet<string>; texts: readonly string[] },
): string {
  const isNameless = name === `column ${cell + 1}`
  const flag = `--ignore-column ${isNameless ? cell + 1 : shellQuoted(name)}`
  const isIndex = texts.every((text, i) => text === String(i) || text === String(i + 1))
  if (isIndex && (isNameless || /^unnamed/i.test(name)))
    return `${name} counts the rows, as pandas writes its index: write the file with index=False, or leave it out with ${flag}`
  const holds = [...kinds].join(', ')
  const about = isNameless ? `${name} has no name and holds` : `${quoted(name)} is not a known name, and holds`
  return `${about} ${holds} (${quoted(texts[0] ?? '')}), which could decide who is paid, what or when: leave it out with ${flag}, or rename it`
}
