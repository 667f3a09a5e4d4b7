/** Draws a QR code: as half blocks on a terminal, as a picture in a file. */
import { encode } from 'uqr'

/** Light modules around the code, as its standard (ISO/IEC 18004) demands. */
const QUIET = 4
/** Black on white whatever the colours of the terminal. */
const ON = '\u001b[38;5;16m\u001b[48;5;231m'
const OFF = '\u001b[0m'

/** Rows of modules, true for dark, with the quiet zone; a damaged seventh can be read. */
export const modulesOf = (text: string): boolean[][] => encode(text, { ecc: 'M', border: QUIET }).data

/**
 * The lines of a code, two rows of modules in each; null if it does not fit. Without colours light modules are drawn,
 * which is right on a dark terminal; phones also read the reverse.
 */
export function codeLines(
  text: string,
  { columns, isColored }: { columns: number; isColored: boolean },
): string[] | null {
  const rows = modulesOf(text)
  const width = rows.length
  if (width > columns) return null
  const lines: string[] = []
  for (let y = 0; y < width; y += 2) {
    const [upper, lower] = [rows[y] ?? [], rows[y + 1]]
    const halves = upper.map((dark, x) => {
      // A last line of one row continues the quiet zone.
      const [top, bottom] = [dark, lower?.[x] ?? false]
      return isColored ? half(top, bottom) : half(!top, !bottom)
    })
    lines.push(isColored ? `${ON}${halves.join('')}${OFF}` : halves.join(''))
  }
  return lines
}

const half = (top: boolean, bottom: boolean): string => (top ? (bottom ? '█' : '▀') : bottom ? '▄' : ' ')

/** The same code as a picture, which has no size of its own. */
export function codeSvg(text: string): string {
  const rows = modulesOf(text)
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  const box = `0 0 ${rows.length} ${rows.length}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path fill="#000" d="${dark.join('')}"/></svg>\n`
}
