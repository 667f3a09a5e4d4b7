/** Writes lines of CSV (RFC 4180) that a spreadsheet reads as text and numbers, never as formulas. */
import { printable } from './printable.ts'

/**
 * Numbers may begin with a minus. Other text that a spreadsheet would compute gets a leading apostrophe (OWASP). A
 * program that splits cells at `;` or a tab may find a formula after one, even inside quotes.
 */
const FORMULA = /^(?=[\t\r\n])|(?:^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠])/g
const NUMBER = /^-?\d+(?:\.\d+)?$/

/** Returns one line of CSV with its line break. Names of tokens come from strangers; null is an empty cell. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(cell: string | null): string {
  const text = cell ?? ''
  const clean = printable(NUMBER.test(text) ? text : text.replace(FORMULA, "$&'"))
  return /[",\r\n]/.test(clean) ? `"${clean.replaceAll('"', '""')}"` : clean
}
