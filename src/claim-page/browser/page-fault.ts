/** Faults that are shown to the visitor: each names a text and its placeholders' values. */
import { printableLine } from '../../platform/printable.ts'
import type raise from './raise/texts/en.json'
import type english from './texts/en.json'

/** Texts of the pages; those of raises replace some of the claim page's. */
export type TextKey = keyof typeof english | keyof typeof raise
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

/** Foreign words as one line of at most `most` characters. */
export const foreignWords = (text: unknown, most = 160): string => printableLine(String(text ?? ''), most)
