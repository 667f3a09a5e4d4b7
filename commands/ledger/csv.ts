/** Writes rows as CSV, piece by piece, to a file or to standard output. */
import { open } from 'node:fs/promises'
import { csvLine as lineOfTexts } from '../../src/platform/csv-line.ts'
import { replaceWith } from '../../src/platform/files.ts'
import type { Amount } from '../cli/amounts.ts'
import { terminal } from '../cli/terminal.ts'
import { reason } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

/** Text, numbers and amounts, which are written as decimal text. */
export type CsvCell = string | number | Amount | null

/** Returns one line of CSV with its line break. */
export const csvLine = (cells: readonly CsvCell[]): string =>
  lineOfTexts(cells.map((cell) => (cell === null ? null : String(cell))))

/** Characters that are written together. */
const PIECE = 65_536

interface CsvTable<R> {
  columns: readonly string[]
  rows: readonly R[]
  cells(row: R): readonly CsvCell[]
}

/** Writes rows below the names of their columns, like `writePieces`. */
export const writeRows = <R>(file: string, table: CsvTable<R>): Promise<void> => writePieces(file, piecesOf(table))

async function* piecesOf<R>({ columns, rows, cells }: CsvTable<R>): AsyncGenerator<string> {
  let piece = csvLine(columns)
  for (const row of rows) {
    piece += csvLine(cells(row))
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield piece
}

/**
 * Writes pieces of text to a file (0600), which gets its name when it is complete, or to standard output for `-`.
 * Throws a usage problem if the file cannot be written.
 */
export async function writePieces(file: string, pieces: AsyncIterable<string>): Promise<void> {
  if (file === '-') {
    for await (const piece of pieces) terminal().stdout.write(piece)
    return
  }
  try {
    await replaceWith(file, async (draft) => {
      const handle = await open(draft, 'wx', 0o600)
      try {
        for await (const piece of pieces) await handle.appendFile(piece)
        await handle.sync()
      } finally {
        await handle.close()
      }
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw usage(`${file} cannot be written: ${reason(error)}`)
  }
}
