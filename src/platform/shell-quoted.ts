/** The word that a POSIX shell reads as this text. */
export const shellQuoted = (word: string): string =>
  /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
