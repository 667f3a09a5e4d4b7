/** Fills the text of `--template` for each record: `{field}` is replaced by a value. Templates can only name fields. */
import { fieldAt } from './field-paths.ts'
import { usage } from './problem.ts'

/** The parts of a template: text as it is, and paths of fields. */
export type Template = readonly ({ text: string } | { path: string })[]

const WRITTEN: Record<string, string> = { n: '\n', t: '\t', '\\': '\\' }

/**
 * Reads a template: `{field}` or `{field.inner}` is a value, `{}` the record itself, `{{` and `}}` are braces, and
 * `\t`, `\n` and `\\` are as in a shell's printf. Throws a usage problem that names the place.
 */
export function templateOf(typed: string): Template {
  const parts: ({ text: string } | { path: string })[] = []
  const pattern = /\{\{|\}\}|\{([\w.-]*)\}|\\([nt\\])|[{}]|[^{}\\]+|\\/g
  for (const { 0: found, 1: path, 2: escaped, index } of typed.matchAll(pattern)) {
    if (path !== undefined) parts.push({ path })
    else if (found === '{' || found === '}') {
      throw usage(`--template: the ${found} at character ${index + 1} has no other half`, {
        param: '--template',
        next: 'write a field as {name} or {name.inner}, and a brace as {{ or }}',
      })
    } else
      parts.push({
        text: escaped !== undefined ? (WRITTEN[escaped] ?? '') : found.replace(/^(\{\{|\}\})$/, found[0] ?? ''),
      })
  }
  return parts
}

/** The text of one record. A null or missing value is empty; a list or an object is JSON. */
export function filledTemplate(template: Template, record: unknown): string {
  return template
    .map((part) => {
      if ('text' in part) return part.text
      const value = part.path === '' ? record : fieldAt(record, part.path)
      if (value === null || value === undefined) return ''
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    })
    .join('')
}

export const templatePaths = (template: Template): string[] =>
  template.flatMap((part) => ('path' in part && part.path !== '' ? [part.path] : []))
