/** Lays out the help of a command for a number of columns, from data of the build or of commander. */

/** A heading with terms and their meanings. */
export interface HelpSection {
  title: string
  items: readonly (readonly [term: string, about: string])[]
}
/** The help of one command, before it is laid out. */
export interface HelpModel {
  usage: string
  about: string
  sections: readonly HelpSection[]
  /** Lines that follow unchanged; empty for none. */
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
export function helpText({ usage, about, sections, after }: HelpModel, columns: number | undefined): string {
  const width = columns ?? PAGE_WIDTH
  const termWidth = Math.max(0, ...sections.flatMap(({ items }) => items.map(([term]) => term.length)))
  const lines = [`Usage: ${usage}`, '', ...(about === '' ? [] : [wrapped(about, width).join('\n'), ''])]
  for (const { title, items } of sections) {
    lines.push(title, ...items.map(([term, text]) => itemText(term, text, termWidth, width)), '')
  }
  return `${lines.join('\n')}${after === '' ? '' : `\n${after}\n`}`
}

function itemText(term: string, about: string, termWidth: number, width: number): string {
  const indent = ' '.repeat(INDENT)
  if (about === '') return `${indent}${term}`
  const lead = termWidth + GAP
  const rest = ' '.repeat(INDENT + lead)
  return `${indent}${term.padEnd(lead)}${wrapped(about, width - INDENT - lead).join(`\n${rest}`)}`
}

/** Breaks long lines between words; spaces inside a line are kept. */
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
