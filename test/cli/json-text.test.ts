/** JSON for a terminal: the same value to a program, and nothing that a terminal obeys. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText, printable } from '../../commands/ui/render.ts'
import { anyText } from '../support/any-text.ts'

describe('JSON on a terminal', () => {
  it('parses to the same value, and has no control character except line breaks', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: anyText({ minLength: 1, maxLength: 1 }) }),
        fc.constantFrom(0, 2),
        (value, indent) => {
          const text = jsonText(value, indent)
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
          for (const line of text.split('\n')) expect(printable(line)).toBe(line)
        },
      ),
    )
  })
})
