/** Detects a header in a CSV's first record, and the columns of wallet, amount and locked amount. */
import { keyFromBase58 } from './base58.ts'
import { CsvScanner } from './csv-scanner.ts'
import { quoted } from './errors.ts'
import { unseenCharacter } from './file-faults.ts'

export const WALLET_NAMES = [
  'wallet',
  'address',
  'pubkey',
  'claimant',
  'recipient',
  'owner',
  'holder',
  'wallet address',
  'account',
]
export const AMOUNT_NAMES = ['amount', 'amount_unlocked', 'quantity', 'balance']
export const LOCKED_NAMES = ['amount_locked', 'locked_amount', 'locked']

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
  /** Number of cells of the first record, which every record has. */
  width: number
  /** Columns without a name: a number in one is refused, because it may belong to the amount. */
  unnamed: readonly number[]
  /** Unnamed column that must have a text in every row, the category of Jito and Streamflow; or -1. */
  category: number
  /** Names of wallet, amount and locked amount as written in the header; empty without a header. */
  names: readonly string[]
  /** Columns that are not read, by name or number. */
  ignored: readonly string[]
}

/** The reason why the columns of a header cannot be determined. */
export interface ColumnFault {
  cell: number
  /** Byte offset, if the fault is not at the start of the cell. */
  offset?: number
  message: string
}

/** A name for comparison: letter case, spaces, hyphens and underscores do not count. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, '')

/**
 * Whether a cell's text is a number in any notation, with separators, a sign, a currency or a percent sign.
 */
export const isNumeric = (text: string): boolean =>
  (/\d/.test(text) && /^[\s\d.,'’_+\-$€£¥%]+$/.test(text)) || /^[\d.,]+e[+-]?\d+$/i.test(text)

/** Determines the columns from the scanner's current (first) record, or from a header in a comment before it. */
export function readColumns(scanner: CsvScanner): CsvColumns | ColumnFault {
  const columns = columnsOf(scanner)
  if (scanner.lastComment < 0 || 'message' in columns || columns.header) return columns
  const comment = new CsvScanner(scanner.bytes, { comments: false, findSeparator: true })
  comment.position = scanner.lastComment
  comment.next()
  if (comment.fault !== undefined || comment.cells !== scanner.cells) return columns
  const texts = textsOf(comment)
  texts[0] = texts[0]?.replace(/^#\s*/, '') || '#'
  const [wallet, amount] = [WALLET_NAMES, AMOUNT_NAMES].map((names) => columnsNamed(texts, names))
  const named = wallet?.length === 1 && amount?.length === 1 ? namedColumns(texts) : undefined
  return named === undefined || 'message' in named ? columns : { ...named, header: 'comment' }
}

const textsOf = (scanner: CsvScanner): string[] => Array.from({ length: scanner.cells }, (_, i) => scanner.text(i))

function columnsNamed(texts: readonly string[], candidates: readonly string[]): number[] {
  const known = candidates.map(plainName)
  return texts.flatMap((text, i) => (known.includes(plainName(text)) ? [i] : []))
}

function columnsOf(scanner: CsvScanner): CsvColumns | ColumnFault {
  const texts = textsOf(scanner)
  const width = texts.length
  const named = namedColumns(texts)
  if (named !== undefined) return unseenIn(scanner, texts) ?? named
  if (width === 1) return { cell: 0, message: oneColumnFault(texts[0] ?? '') }
  // Names without a digit cannot be amounts, so the record is a header with unknown names.
  if (texts.every((text) => /^[\p{L}_()#\s-]+$/u.test(text) && text.length < 32)) {
    const unseen = unseenIn(scanner, texts)
    if (unseen !== undefined) return unseen
    if (width === 2) return withColumns(texts, { header: true, wallet: 0, amount: 1, locked: -1 })
    const message = `the header names neither wallet (${WALLET_NAMES.join(', ')}) nor amount (${AMOUNT_NAMES.join(', ')})`
    return { cell: 0, message }
  }
  const isFourColumns =
    width === 4 &&
    keyFromBase58(texts[0] ?? '') !== undefined &&
    /^\d+(\.\d+)?$/.test(texts[2] ?? '') &&
    texts[3] !== '' &&
    !isNumeric(texts[3] ?? '')
  return withColumns(texts, { header: false, wallet: 0, amount: 1, locked: isFourColumns ? 2 : -1 })
}

/** The columns of a header that has a known name; undefined if the record has none. */
function namedColumns(texts: readonly string[]): CsvColumns | ColumnFault | undefined {
  const found = {
    wallet: columnsNamed(texts, WALLET_NAMES),
    amount: columnsNamed(texts, AMOUNT_NAMES),
    'locked amount': columnsNamed(texts, LOCKED_NAMES),
  }
  for (const [role, [first, second]] of Object.entries(found)) {
    if (first !== undefined && second !== undefined) {
      const message = `the header names the ${role} twice: ${texts[first]} and ${texts[second]}; remove or rename one`
      return { cell: second, message }
    }
  }
  const locked = found['locked amount'][0] ?? -1
  let [wallet, amount] = [found.wallet[0], found.amount[0]]
  if (wallet === undefined && amount === undefined && locked < 0) return undefined
  // If one of two columns is named, the other column is unambiguous.
  if (texts.length === 2 && locked < 0) {
    if (wallet === undefined && amount !== undefined) wallet = 1 - amount
    else if (amount === undefined && wallet !== undefined) amount = 1 - wallet
  }
  if (wallet === undefined) {
    return { cell: 0, message: `the header has no wallet column; name one of them ${WALLET_NAMES.join(', ')}` }
  }
  if (amount === undefined) {
    return { cell: 0, message: `the header has no amount column; name one of them ${AMOUNT_NAMES.join(' or ')}` }
  }
  return withColumns(texts, { header: true, wallet, amount, locked })
}

/** Completes the columns by the texts of the first record. */
function withColumns(
  texts: readonly string[],
  columns: Pick<CsvColumns, 'wallet' | 'amount' | 'locked'> & { header: boolean },
): CsvColumns {
  const { header, wallet, amount, locked } = columns
  const used = [wallet, amount, locked].filter((cell) => cell >= 0)
  const others = texts.flatMap((_, cell) => (used.includes(cell) ? [] : [cell]))
  return {
    ...columns,
    width: texts.length,
    unnamed: others.filter((cell) => !header || texts[cell] === ''),
    category: !header && locked >= 0 ? 3 : -1,
    names: header ? used.map((cell) => texts[cell] ?? '') : [],
    ignored: others.map((cell) => (header && texts[cell]) || `column ${cell + 1}`),
  }
}

/** An invisible character in a name: `wallet` followed by a no-break space is another name. */
function unseenIn(scanner: CsvScanner, texts: readonly string[]): ColumnFault | undefined {
  const cell = texts.findIndex((text) => unseenCharacter(text) !== undefined)
  const unseen = unseenCharacter(texts[cell] ?? '')
  if (unseen === undefined) return undefined
  const offset = (scanner.starts[cell] ?? 0) + Buffer.byteLength((texts[cell] ?? '').slice(0, unseen.index))
  return { cell, offset, message: `the header has ${unseen.name} here; remove it` }
}

function oneColumnFault(text: string): string {
  const other = text.includes('|') ? ', not by "|"' : ''
  return `only one column; a row is wallet,amount separated by a comma, a semicolon or a tab${other}`
}

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
  const { header, amount, locked, category, ignored, names } = columns
  const roles = ['wallet', 'amount', 'locked amount']
  const notes: string[] = []
  if (header === 'comment') notes.push('the line that begins with # is read as the header')
  if (category >= 0) notes.push(`column ${amount + 1} is read as the amount, column ${locked + 1} as the locked amount`)
  if (separator !== ',') notes.push(`cells are separated by ${separator === ';' ? 'semicolons' : 'tabs'}`)
  const taken = names.map((name, i) => `the ${roles[i]} from ${quoted(name)}`)
  if (ignored.length > 0) {
    notes.push(
      `not read: ${ignored.map((name) => quoted(name)).join(', ')}${taken.length === 0 ? '' : `; read: ${taken.join(', ')}`}`,
    )
  }
  const isAmountName = (name: string) => AMOUNT_NAMES.some((known) => plainName(known) === plainName(name))
  if (ignored.length === 0 && names[1] !== undefined && !isAmountName(names[1])) {
    notes.push(`read: ${taken.join(', ')}`)
  }
  if (comments > 0)
    notes.push(
      `${comments} ${comments === 1 ? 'row begins' : 'rows begin'} with # and ${comments === 1 ? 'is a comment' : 'are comments'}`,
    )
  return notes
}
