/** Base58 beyond the length that the library takes, against the library and against its own definition. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeBase58, encodeBase58 } from '../src/solana/long-base58.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** The number that a text stands for, and the zero bytes before it. */
function decoded(text: string): Buffer {
  const zeros = /^1*/.exec(text)![0].length
  const digits = [...text.slice(zeros)]
  const value = digits.reduce((sum, digit) => sum * 58n + BigInt(ALPHABET.indexOf(digit)), 0n)
  const hex = value === 0n ? '' : value.toString(16)
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')])
}

it('base58 encodes and decodes bytes of any length, with each leading zero', () => {
  const long = fc.record({ zeros: fc.nat(40), bytes: fc.uint8Array({ minLength: 2_000, maxLength: 4_000 }) })
  fc.assert(
    fc.property(long, ({ zeros, bytes }) => {
      const all = Buffer.concat([Buffer.alloc(zeros), bytes])
      expect(decoded(encodeBase58(all)).equals(all)).toBe(true)
      expect(all.equals(decodeBase58(encodeBase58(all)))).toBe(true)
    }),
    { numRuns: 12 },
  )
  expect(encodeBase58(new Uint8Array(5_000))).toBe('1'.repeat(5_000))
  expect(decodeBase58('1'.repeat(5_000))).toEqual(new Uint8Array(5_000))
})

it('base58 gives the text of the library', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      // A long run of ones before the bytes is what the library would put there.
      const padded = Buffer.concat([Buffer.alloc(2_048), bytes])
      expect(encodeBase58(padded)).toBe('1'.repeat(2_048) + base58.encode(bytes))
      expect(encodeBase58(bytes)).toBe(base58.encode(bytes))
      expect(decodeBase58(base58.encode(bytes))).toEqual(bytes)
    }),
  )
})

it('base58 refuses other characters, and texts too long for an instruction', () => {
  for (const wrong of ['0', 'I', ' ', 'é']) expect(() => decodeBase58('2'.repeat(5_000) + wrong)).toThrow('character')
  expect(() => decodeBase58('2'.repeat(20_001))).toThrow('20000')
})
