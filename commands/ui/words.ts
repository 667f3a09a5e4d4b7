/** Counts nouns, and breaks texts between words, at the width of a terminal. */
import type { Output } from '../cli/standard-output.ts'

/** A number with its noun. */
export const counted = (count: number | string, noun: string, plural = `${noun}s`) =>
  `${count} ${String(count) === '1' ? noun : plural}`

/** The fewest columns to which texts are broken. */
const LEAST_COLUMNS = 40

/** The columns of a terminal that does not report its width, and the smallest width in use. */
const DEFAULT_WIDTH = 80
const LEAST_WIDTH = 20

/** The columns of a terminal; Infinity for other outputs, which are not wrapped. */
export const terminalWidth = (stream: Output) =>
  stream.isTTY ? Math.max(LEAST_WIDTH, stream.columns || DEFAULT_WIDTH) : Number.POSITIVE_INFINITY

/**
 * Breaks long lines between words; spaces inside a line are kept, and an indented line stays indented. Commands
 * stay whole, so that they can be copied: those in backticks, and lines with only a command.
 */
export function brokenAtWords(text: string, columns: number): string[] {
  const given = text.split('\n')
  return columns < LEAST_COLUMNS ? given : given.flatMap((line) => linesOf(line, columns))
}

function linesOf(line: string, columns: number): string[] {
  if (/^ +svc /.test(line)) return [line]
  const indent = ' '.repeat(line.search(/[^ ]|$/))
  const lines: string[] = []
  let current = ''
  for (const [word] of line.matchAll(/\s*(?:`[^`]*`\S*|\S+)/g)) {
    if (current === '' || current.length + word.length <= columns) current += word
    else {
      lines.push(current)
      current = `${indent}${word.trimStart()}`
    }
  }
  return [...lines, current]
}
