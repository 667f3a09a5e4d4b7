/** Faults that are shown to the visitor: each names a text and its placeholders' values. */
import { printableLine } from '../../platform/printable.ts'
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

/** Foreign words as one line of at most `most` characters. */
export const foreignWords = (text: unknown, most = 160): string => printableLine(String(text ?? ''), most)
