/** Explains faults of a row or an amount of a recipient CSV, and what to write instead. */
import { MAX_U64 } from '../solana/u64.ts'
import { AMOUNT_STATUS } from './amounts.ts'
import type { ListForm } from './column-plan.ts'
import { type CsvColumns, rowOf } from './csv-columns.ts'
import type { CsvScanner } from './csv-scanner.ts'
import { quoted } from './errors.ts'
import { isNumeric } from './unread-columns.ts'

export const noRows = ({ comments }: CsvScanner, form: ListForm): string =>
  `no rows; a row is ${rowOf(form)}${comments === 0 ? '' : `, and ${comments} begin with #, which makes them comments`}`
export const BLANK = { offset: 0, message: '' }

/**
 * Returns the error for a record with another number of cells than the first one; BLANK for a record without any text.
 */
export function shapeFault(scanner: CsvScanner, columns: CsvColumns): typeof BLANK | undefined {
  const { cells, starts, ends } = scanner
  const { width, unnamed, category, amount } = columns
  if (scanner.isEmpty(0) && Array.from({ length: cells }, (_, cell) => scanner.isEmpty(cell)).every(Boolean))
    return BLANK
  const first = columns.header ? 'header' : 'first row'
  if (cells <= columns.wallet || cells <= amount) {
    const missing = cells <= columns.wallet ? 'wallet' : 'amount'
    return { offset: ends[cells - 1] ?? 0, message: `the ${missing} is missing; a row is ${rowOf(columns.form)}` }
  }
  if (cells > width || unnamed.some((cell) => cell < cells && isNumeric(scanner.text(cell)))) {
    const shape = cells > width ? `${cells} cells, but the ${first} has ${width}; ` : ''
    const offset = cells > width ? starts[width] : starts[amount]
    return { offset: offset ?? 0, message: shape + numbersFault(scanner, columns) }
  }
  if (cells < width) {
    const message = `${cells} cells, but the ${first} has ${width}; an empty cell needs its separator too`
    return { offset: ends[cells - 1] ?? 0, message }
  }
  if (category >= 0 && scanner.isEmpty(category)) {
    const message = `column ${category + 1} is empty: without a header it holds a text, as in files of Streamflow and Jito`
    return { offset: starts[category] ?? 0, message }
  }
  // Only a number that was cut at its separator begins with a zero and has three digits.
  return mayBeCut(scanner, columns) && scanner.text(amount + 1).startsWith('0')
    ? { offset: starts[amount] ?? 0, message: numbersFault(scanner, columns) }
    : undefined
}

/** Whether the amount and the text directly after it could be one number that was cut at its thousands separator. */
export const mayBeCut = (scanner: CsvScanner, { amount }: CsvColumns): boolean =>
  amount + 1 < scanner.cells &&
  scanner.starts[amount + 1] === (scanner.ends[amount] ?? 0) + 1 &&
  /^[1-9]\d{0,2}$/.test(scanner.text(amount)) &&
  /^\d{3}(\.\d+)?$/.test(scanner.text(amount + 1))

/** Explains numbers after an amount whose meaning no header gives. */
export function numbersFault(scanner: CsvScanner, { amount, header, category, form }: CsvColumns): string {
  const texts = [scanner.text(amount)]
  for (let cell = amount + 1; cell < scanner.cells && isNumeric(scanner.text(cell)); cell++)
    texts.push(scanner.text(cell))
  const [whole = '', ...rest] = texts
  if (rest.length === 0)
    return header
      ? 'a text with a comma needs quotes, and a column needs a name in the header'
      : 'each row needs the same cells: an empty cell needs its separator, and a text with a comma needs quotes'
  const shown = quoted(texts.join(','))
  const named = header
    ? 'give each column a name in the header'
    : `begin the file with a header, as in ${form.reads.includes('round') ? 'wallet,cap,round' : `wallet,amount,${category < 0 ? 'usd' : 'locked,category'}`}`
  if (!/\d{4}/.test(whole) && rest.every((group) => /^\d{3}(\.\d+)?$/.test(group)))
    return `${shown} reads as a thousands separator; write the amount without, or ${named}`
  if (rest.length === 1 && /^\d+$/.test(whole) && /^\d+$/.test(rest[0] ?? ''))
    return `${shown} reads as a decimal comma; write ${whole}.${rest[0]}, or ${named}`
  return `more numbers than wallet and amount (${shown}); ${named}`
}

/** Whether a comma or point before the last three digits could also separate thousands. */
export const isAmbiguous = (text: string): boolean => /^[1-9]\d{0,2}[,.]\d{3}$/.test(text)

/** Explains why an amount cell cannot be read, and what to write instead. */
export function cellFault(text: string, status: number, decimals: number | undefined, name = 'amount'): string {
  const shown = `${name} ${quoted(text)}`
  if (text === '') return `the ${name} is empty`
  if (status === AMOUNT_STATUS.overflow)
    return `${shown} is more than a token account holds (u64, ${MAX_U64} base units)`
  if (status === AMOUNT_STATUS.fraction) {
    return `${shown} has ${text.length - text.search(/[.,]/) - 1} fractional digits, the token has ${decimals}`
  }
  if (decimals !== undefined && isAmbiguous(text) && text.includes('.'))
    return `${shown} may be ${text.replace('.', '')} or ${text.replace(/0+$/, '')} if commas do not separate cells; write it without a point, or not with three digits after it`
  if (/^[+-]/.test(text)) return `${shown}: an amount has no sign`
  if (/^[\d.]+e[+-]?\d+$/i.test(text)) return `${shown}: exponents are not read, write the number out`
  if (/^\d+,\d+$/.test(text) && !/^\d{1,3},\d{3}$/.test(text))
    return `${shown} has a decimal comma; write ${text.replace(',', '.')}`
  if (/^\d[\d,_'\s\u00a0\u2009\u202f.]*$/.test(text) && /[,_'\s\u00a0\u2009\u202f]/.test(text)) {
    return `${shown}: thousands separators are not read, write digits only`
  }
  if (/^\d+\.\d+$/.test(text))
    return `${shown} is not in base units; give the token's decimals (--decimals N) for whole tokens`
  const form =
    decimals === undefined ? 'digits only (base units)' : 'digits with an optional point and fraction, as in 12.5'
  return `${shown} is not an amount; write ${form}`
}
