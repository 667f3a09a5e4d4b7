/** Texts of any characters for property tests; the unit `binary` of fast-check takes a second to list all of Unicode. */
import fc from 'fast-check'

/** A code point, half of them of ASCII; surrogates stand for nothing alone. */
const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0x80, max: 0x10ffff }).filter((point) => point < 0xd800 || point > 0xdfff),
)

/** `maxLength` counts code points. */
export const anyText = (constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc.array(codePoint, constraints).map((points) => String.fromCodePoint(...points))
