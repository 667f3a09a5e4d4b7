/** Lays out a record field by field: a name and next to it a value that is never shortened. */
import { wrapAnsi } from 'fast-wrap-ansi'
import { textWidth } from './columns.ts'
import type { Paint } from './paint.ts'
import { INDENT } from './table.ts'

/** The least room for a value beside its name; with less, it begins on the next line. */
const LEAST_BESIDE = 24

/** The lines of the fields; text is broken only between words. */
export function recordLines(
  fields: readonly (readonly [name: string, value: string])[],
  width: number,
  { bold, dim }: Paint,
): string[] {
  const names = Math.max(0, ...fields.map(([name]) => name.length))
  return fields.flatMap(([name, value]) => {
    const room = width - names - INDENT.length
    const beside = `${bold(name)}${' '.repeat(names - name.length)}${INDENT}`
    if (value === '') return [`${beside}${dim('-')}`]
    if (value.includes('\n')) return [bold(name), ...value.split('\n').map((line) => `${INDENT}${line}`)]
    if (textWidth(value) <= room) return [`${beside}${value}`]
    const lines = room < LEAST_BESIDE ? [] : wrappedLines(value, room)
    // A word that is longer than the room next to the name begins on the next line, further left.
    if (lines.length === 0 || lines.some((line) => textWidth(line) > room)) {
      return [bold(name), ...wrappedLines(value, width - INDENT.length).map((line) => `${INDENT}${line}`)]
    }
    return lines.map((line, i) => (i === 0 ? `${beside}${line}` : `${' '.repeat(names + INDENT.length)}${line}`))
  })
}

/** Wraps laid-out text: the rest of a long line is indented to where its text began. */
export function hangingText(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (textWidth(line) <= width) return [line]
      const [lead = ''] = /^\s*(?:\S+(?: \S+){0,2} {2,})?/.exec(line) ?? []
      const isLong = textWidth(lead) > width / 2
      const indent = isLong ? line.search(/[^ ]|$/) + INDENT.length : textWidth(lead)
      // A lead that leaves no room for a word gets its own lines.
      if (isLong && textWidth(lead) + textWidth(line.slice(lead.length).split(/\s/, 1)[0] ?? '') > width) {
        const margin = ' '.repeat(indent)
        const begun = wrappedLines(lead.trim(), width - indent).map(
          (one, i) => `${i === 0 ? margin.slice(INDENT.length) : margin}${one}`,
        )
        return [...begun, ...wrappedLines(line.slice(lead.length), width - indent).map((one) => `${margin}${one}`)]
      }
      const [first = '', ...rest] = wrappedLines(line.slice(lead.length), width - textWidth(lead))
      const more = rest.length === 0 ? [] : wrappedLines(rest.join(' '), width - indent)
      return [`${lead}${first}`, ...more.map((one) => `${' '.repeat(indent)}${one}`)]
    })
    .join('\n')
}

const wrappedLines = (text: string, width: number): string[] =>
  wrapAnsi(text, Math.max(1, width), { hard: false }).split('\n')
