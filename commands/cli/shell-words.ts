/** Writes and reads command lines as a POSIX shell does. */
import { shellQuoted } from '../../src/platform/shell-quoted.ts'

/** The command line of `svc` with those words, for pasting. */
export const commandLineOf = (argv: readonly string[]): string => ['svc', ...argv].map(shellQuoted).join(' ')

/**
 * The words of a line with quotes and backslashes; nothing is expanded. Throws the error of `refuse` for what only a
 * shell can do, such as a pipe.
 */
export function shellWords(line: string, refuse: (what: string) => Error): string[] {
  const word = /(?:[^\s'"\\|&;<>()$`*?#~]|\\[^\n]|'[^']*'|"(?:[^"\\$`]|\\[^\n])*"|(?<=\S)[#~]|~(?=\/))+/y
  const words: string[] = []
  let place = 0
  while (place < line.length) {
    if (/\s/.test(line[place] ?? '')) {
      place += 1
      continue
    }
    word.lastIndex = place
    const found = word.exec(line)?.[0]
    if (found === undefined) throw refuse(`cannot be read from place ${place + 1} on: ${line.slice(place, place + 20)}`)
    place += found.length
    words.push(unquoted(found))
  }
  return words
}

/** In double quotes, a backslash escapes only the characters that would end or expand them. */
const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  )
