/** Writes and reads command lines as a POSIX shell does. */

/** A word as a shell takes it for this text. */
export const shellQuoted = (word: string): string =>
  /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** The command line of `svc` with those words, which can be pasted. */
export const commandLineOf = (argv: readonly string[]): string => ['svc', ...argv].map(shellQuoted).join(' ')

/**
 * The words of a line with its quotes and backslashes, where nothing is expanded. Throws the error that `refuse` returns
 * for what only a shell could do, such as a pipe.
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

/** Between double quotes a backslash stands for itself, but before what would end or expand them. */
const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  )
