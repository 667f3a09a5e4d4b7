/** Formats the fields of a record as lines of plain text: each name, padded to one width, with its value. */
import { PLAIN } from './paint.ts'

/** An empty value is shown as a dash. Long values are not wrapped. */
export function fieldLines(
  fields: readonly (readonly [name: string, value: string])[],
  { bold, dim } = PLAIN,
): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${bold(name.padEnd(width))}  ${value || dim('-')}`)
}
