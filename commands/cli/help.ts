/** Lays out the help of a command for a number of columns, from data of the build or of commander. */

/** A heading with terms and their meanings. */
interface HelpSection {
  title: string
  items: readonly (readonly [term: string, about: string])[]
}
/** The help of one command, before it is laid out. */
export interface HelpModel {
  usage: string
  about: string
  /** Command lines. */
  examples: readonly string[]
  sections: readonly HelpSection[]
  /** The last line; empty for none. */
  after: string
}
/** The help of a noun by verb; the empty name has the help of the noun itself. */
export type NounHelp = Readonly<Record<string, HelpModel>>

/** The columns if the output is not a terminal. */
const PAGE_WIDTH = 100
/** The fewest columns to which texts are wrapped. */
const LEAST_WRAPPED = 40
const INDENT = 2
const GAP = 2

/** The help as text; `columns` is undefined if the output is not a terminal. */
export function helpText({ usage, about, examples, sections, after }: HelpModel, columns: number | undefined): string {
  const width = columns ?? PAGE_WIDTH
  const termWidth = Math.max(0, ...sections.flatMap(({ items }) => items.map(([term]) => term.length)))
  const lines = [`Usage: ${usage}`, '', ...(about === '' ? [] : [wrapped(about, width).join('\n'), ''])]
  if (examples.length > 0) lines.push('Examples:', ...examples.flatMap((line) => commandLines(line, width)), '')
  for (const { title, items } of sections) {
    lines.push(title, ...items.map(([term, text]) => itemText(term, text, termWidth, width)), '')
  }
  return `${lines.join('\n')}${after === '' ? '' : `\n${wrapped(after, width).join('\n')}\n`}`
}

/** A command in the lines that a shell joins again, broken between its words. */
function commandLines(command: string, width: number): string[] {
  const lines: string[] = []
  let current = ' '.repeat(INDENT)
  for (const [word] of command.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)) {
    const isFirst = current.trim() === ''
    if (isFirst || current.length + 1 + word.length + 2 <= width) current += isFirst ? word : ` ${word}`
    else {
      lines.push(`${current} \\`)
      current = `${' '.repeat(2 * INDENT)}${word}`
    }
  }
  return [...lines, current]
}

function itemText(term: string, about: string, termWidth: number, width: number): string {
  const indent = ' '.repeat(INDENT)
  if (about === '') return `${indent}${term}`
  const lead = termWidth + GAP
  const rest = ' '.repeat(INDENT + lead)
  return `${indent}${term.padEnd(lead)}${wrapped(about, width - INDENT - lead).join(`\n${rest}`)}`
}

/**
 * Breaks long lines between words; spaces inside a line are kept. Help shares no file with what loads later, so that it
 * is read with the first file.
 */
function wrapped(text: string, width: number): string[] {
  const given = text.split('\n')
  return width < LEAST_WRAPPED ? given : given.flatMap((line) => wrappedLine(line, width))
}

function wrappedLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const [word] of line.matchAll(/\s*\S+/g)) {
    if (current === '' || current.length + word.length <= width) current += word
    else {
      lines.push(current)
      current = word.trimStart()
    }
  }
  return [...lines, current]
}
