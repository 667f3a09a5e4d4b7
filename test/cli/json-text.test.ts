/** JSON for a terminal: the same value to a program, and nothing that a terminal obeys. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText, printable } from '../../commands/ui/render.ts'

describe('JSON on a terminal', () => {
  it('parses to the value that JSON.stringify writes, whatever is in it, and is clean but for its line breaks', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0, 2), (value, indent) => {
        const text = jsonText(value, indent)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        for (const line of text.split('\n')) expect(printable(line)).toBe(line)
      }),
    )
  })
})
