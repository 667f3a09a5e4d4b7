/** Bounds of a JSON text that arrives in pieces: wherever it is cut, the fault is that of the whole. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bounds, JsonBounds } from '../../daemon/pipeline/json-bounds.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { runs } from '../support/runs.ts'

const BOUNDS: Bounds = { large: 'image', limit: 100 }

function told(pieces: Uint8Array[]): unknown {
  const bounds = new JsonBounds(BOUNDS)
  try {
    for (const piece of pieces) bounds.push(piece)
  } catch (error) {
    if (error instanceof ApiError) return error.details
    throw error
  }
  return 'fits'
}

const cut = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))

/** What a JSON text is made of, and what may be mistaken for it inside of a string. */
const text = fc
  .array(fc.constantFrom('{', '}', '[', ']', '"', '\\', '\\\\', '\\"', ',', ':', '"image":', 'x', 'x'.repeat(30)), {
    maxLength: 80,
  })
  .map((parts) => parts.join(''))

describe('a JSON text in pieces', () => {
  it('is reported as too deep, or as fitting, wherever it is cut', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(text, (given) => {
        const bytes = Buffer.from(given)
        const whole = told([bytes])
        // The first fault is reported: a cut text may have too many bytes where the whole one is too deep.
        for (const size of [1, 2, 3, 7]) {
          const parts = told(cut(bytes, size))
          if (parts === 'fits' || whole === 'fits') expect(parts).toEqual(whole)
        }
      }),
      { numRuns: runs(30, 150) },
    )
  })

  it('counts the bytes of all fields except the one that may be large, with escapes and cuts', () => {
    const large = 'x\\"\\\\'.repeat(200)
    const fits = [
      `{"image":"${large}"}`,
      `{"a":"\\\\","image":"${large}"}`,
      `{"image" : "${large}", "b": 1}`,
      `{"a":{"image":1},"image":"${large}"}`,
    ]
    const refused = [
      `{"imag":"${large}"}`,
      `{"images":"${large}"}`,
      `{"a":"image","b":"${large}"}`,
      `{"image":["${large}"]}`,
      `{"a":{"image":"${large}"}}`,
      `{"${large}":"image"}`,
    ]
    for (const size of [1, 2, 5, 64, 10_000]) {
      for (const text of fits) expect([text, told(cut(Buffer.from(text), size))]).toEqual([text, 'fits'])
      for (const text of refused)
        expect([text, told(cut(Buffer.from(text), size))]).toEqual([text, { limit_bytes: 100 }])
    }
  })
})
