/** Shows text from strangers so that nothing in it can be invisible or control a terminal. */

/**
 * The one table of what is never printed as it is: control, format, direction and private characters, line separators,
 * unpaired surrogates, what Unicode does not define, and what it ignores by default. U+2800 is an empty Braille pattern.
 */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A character as JSON escapes it, such as `\\u00ad`; two escapes beyond U+FFFF. */
export const escapedCharacter = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/**
 * Names on chain come from strangers: what cannot be printed is shown escaped, so that two names that differ never look
 * alike. An emoji that is joined of several is shown by its parts, with `\\u200d` between them.
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escapedCharacter)

/** The same as one line of at most `most` characters; line breaks and tabs count as spaces. */
export function printableLine(text: string, most: number): string {
  // Text far beyond the limit is never shown.
  const line = printable(text.slice(0, 4 * most).replace(/\s+/gu, ' ')).trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** A sentence as it stands inside another one. */
export const uncapitalized = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
