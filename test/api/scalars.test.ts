/** Addresses, amounts and moments. */

import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { address, digits, u64Digits } from '../../src/api/chain-scalars.ts'
import { moment } from '../../src/api/filters.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { U64_MAX } from './bodies.ts'

describe('scalars', () => {
  it('an address decodes to exactly 32 bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 28, maxLength: 36 }), fc.nat(36), (bytes, zeros) => {
        bytes.fill(0, 0, zeros)
        const text = base58.encode(bytes)
        expect(isAddress(text)).toBe(bytes.length === 32)
        expect(address.safeParse(text).success).toBe(bytes.length === 32)
      }),
      { numRuns: 2000 },
    )
  })

  it('an address at the edges of 32 bytes is told from its neighbours', () => {
    const first = base58.encode(Uint8Array.of(1, ...new Uint8Array(31)))
    const last = base58.encode(new Uint8Array(32).fill(255))
    const over = base58.encode(Uint8Array.of(1, ...new Uint8Array(32)))
    expect([first, last, over].map(isAddress)).toEqual([true, true, false])
    expect([31, 32, 33].map((zeros) => isAddress('1'.repeat(zeros)))).toEqual([false, true, false])
    expect(address.safeParse('z'.repeat(44)).error?.issues[0]?.message).toMatch(/^invalid base58 address/)
    expect(isAddress('')).toBe(false)
  })

  it('digits and 64-bit amounts refuse text without throwing', () => {
    for (const text of ['', 'abc', '-1', '1.5', '1e3', ' 1', '0x10']) {
      expect(digits.safeParse(text).success, text).toBe(false)
      expect(u64Digits.safeParse(text).success, text).toBe(false)
    }
    expect(u64Digits.safeParse(U64_MAX).success).toBe(true)
    expect(u64Digits.safeParse('18446744073709551616').success).toBe(false)
    expect(u64Digits.safeParse('9'.repeat(100_000)).success).toBe(false)
  })

  it('a moment is ISO 8601 or Unix seconds, and milliseconds inside', () => {
    expect(moment.parse('2026-01-01T00:00:00Z')).toBe(1767225600000)
    expect(moment.parse('2026-01-01T01:00:00+01:00')).toBe(1767225600000)
    expect(moment.parse('1767225600')).toBe(1767225600000)
    expect(moment.parse(1767225600)).toBe(1767225600000)
    for (const given of ['', '2026-01-01', '2026-02-30T00:00:00Z', -1, 1.5, '-1']) {
      expect(moment.safeParse(given).success, String(given)).toBe(false)
    }
  })
})
