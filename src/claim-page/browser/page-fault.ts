/** Faults that are shown to the visitor: each names a text and its placeholders' values. */
import type english from './texts/en.json'

export type TextKey = keyof typeof english
export type TextValues = Readonly<Record<string, string>>

export class PageFault extends Error {
  override readonly name = 'PageFault'
  readonly key: TextKey
  readonly values: TextValues

  constructor(key: TextKey, values: TextValues = {}) {
    super(key)
    this.key = key
    this.values = values
  }
}

/** Characters that are invisible or change the direction of text, which are removed from foreign words. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** Foreign words as one line of at most `most` characters. */
export function foreignWords(text: unknown, most = 160): string {
  const words = String(text ?? '')
    .slice(0, 4 * most)
    .replace(INVISIBLE, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return words.length > most ? `${words.slice(0, most - 1)}…` : words
}
