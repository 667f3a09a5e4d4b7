/** Writes a command line as a POSIX shell reads it. */

/** A word as a shell takes it for this text. */
export const shellQuoted = (word: string): string =>
  /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** The command line of `svc` with those words, which can be pasted. */
export const commandLineOf = (argv: readonly string[]): string => ['svc', ...argv].map(shellQuoted).join(' ')
