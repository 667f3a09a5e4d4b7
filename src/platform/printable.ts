/** Makes text from strangers safe for a terminal. */

/**
 * Characters that a terminal interprets or a reader cannot see: control, direction and other invisible characters, line
 * separators, and unpaired surrogates.
 */
export const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** Names on chain come from strangers, so characters that a terminal interprets are replaced before printing. */
export const printable = (text: string) => text.replace(UNPRINTABLE, '\ufffd')
