/** Addresses, amounts and moments. */

import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { address, digits, imageParts, imageText, u64Digits, uri } from '../../src/api/chain-scalars.ts'
import { moment } from '../../src/api/filters.ts'
import { uriWarnings } from '../../src/api/uris.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { runs } from '../support/runs.ts'
import { U64_MAX } from './bodies.ts'

describe('scalars', () => {
  it('an address decodes to exactly 32 bytes', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 28, maxLength: 36 }), fc.nat(36), (bytes, zeros) => {
        bytes.fill(0, 0, zeros)
        const text = base58.encode(bytes)
        expect(isAddress(text)).toBe(bytes.length === 32)
        expect(address.safeParse(text).success).toBe(bytes.length === 32)
      }),
      { numRuns: runs(80, 400) },
    )
  })

  it('an address at the edge of 32 bytes is accepted, and its neighbours are refused', () => {
    const first = base58.encode(Uint8Array.of(1, ...new Uint8Array(31)))
    const last = base58.encode(new Uint8Array(32).fill(255))
    const over = base58.encode(Uint8Array.of(1, ...new Uint8Array(32)))
    expect([first, last, over].map(isAddress)).toEqual([true, true, false])
    expect([31, 32, 33].map((zeros) => isAddress('1'.repeat(zeros)))).toEqual([false, true, false])
    expect(address.safeParse('z'.repeat(44)).error?.issues[0]?.message).toMatch(/^invalid base58 address/)
    expect(isAddress('')).toBe(false)
  })

  it('digits and 64-bit amounts refuse other text without throwing', () => {
    for (const text of ['', 'abc', '-1', '1.5', '1e3', ' 1', '0x10']) {
      expect(digits.safeParse(text).success, text).toBe(false)
      expect(u64Digits.safeParse(text).success, text).toBe(false)
    }
    expect(u64Digits.safeParse(U64_MAX).success).toBe(true)
    expect(u64Digits.safeParse('18446744073709551616').success).toBe(false)
    expect(u64Digits.safeParse('9'.repeat(100_000)).success).toBe(false)
  })

  it.each([
    ['C:\\tokens\\1.json', 'must have the scheme https, http, ipfs, ar or data, not C'],
    ['file:///etc/passwd', 'not file'],
    ['javascript:alert(1)', 'not javascript'],
    ['./3.json', 'must be a URI with its scheme'],
    ['arweave.net/abc', 'must be a URI with its scheme'],
    ['', 'must be a URI with its scheme'],
    ['https://ipfs.io/ipfs/Qm/Crab 1.json', 'has a space at character 29, which is not allowed in a URI: write %20'],
    ['https://example.com/\u200b1.json', 'has U+200B at character 21, which is not allowed in a URI: write %E2%80%8B'],
    ['https://example.com/\u00a01', 'has U+00A0 at character 21'],
    ['https://example.com/ü', 'has "ü" at character 21, which is not allowed in a URI: write %C3%BC'],
    ['https://example.com/100%', 'has "%" at character 24, which is not allowed in a URI: write %25'],
    ['https://example.com/\n', 'has U+000A at character 21'],
    ['https:', 'must be a complete URI'],
    ['https:///x', 'must be a complete URI'],
    ['ipfs:Qm', 'must be a complete URI'],
    ['data:text/plain', 'must be a complete URI'],
  ])('a URI that is stored on chain for good cannot be %j', (text, message) => {
    expect(uri.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([expect.stringContaining(message)])
  })

  it('a URI has the characters of RFC 3986 and one of five schemes; http gives a warning', () => {
    for (const text of [
      'https://example.com/1.json?a=b%20c#d',
      "HTTPS://user@example.com:8443/~a/(b)!$&'()*+,;=:@/[c]",
      'https://[2001:db8::1]/x',
      'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/1.json',
      'ar://bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U',
      'data:application/json;base64,e30=',
      'http://example.com/3.json',
    ]) {
      expect(uri.safeParse(text).error, text).toBeUndefined()
    }
    expect(uriWarnings({ a: 'https://a.b', b: undefined, c: 'ipfs://x' })).toEqual([])
    expect(uriWarnings({ uri: 'http://example.com/3.json' })).toEqual([expect.stringMatching(/^uri: .* is http/)])
  })

  it('an image is base64, or a data URL that names its type', () => {
    expect(imageParts('AAAA')).toEqual({ declared: null, base64: 'AAAA' })
    expect(imageParts('data:image/JPG;base64,AAAA')).toEqual({ declared: 'image/jpeg', base64: 'AAAA' })
    for (const text of ['AAAA', 'data:image/png;base64,AAAA', 'data:image/webp;base64,AAAA']) {
      expect(imageText.safeParse(text).success, text).toBe(true)
    }
    for (const text of [
      '',
      'data:',
      'data:image/png,AAAA',
      'data:image/svg+xml;base64,AAAA',
      'data:image/png;base64,',
      'data:image/png;base64,A',
    ]) {
      expect(imageText.safeParse(text).success, text).toBe(false)
    }
  })

  it('a time or a date is ISO 8601 or Unix seconds, and milliseconds inside', () => {
    expect(moment.parse('2026-01-01T00:00:00Z')).toBe(1767225600000)
    expect(moment.parse('2026-01-01T01:00:00+01:00')).toBe(1767225600000)
    expect(moment.parse('2026-01-01')).toBe(1767225600000)
    expect(moment.parse('1767225600')).toBe(1767225600000)
    expect(moment.parse(1767225600)).toBe(1767225600000)
    for (const given of [
      '',
      '2026-01',
      '2026-01-01T00:00:00',
      '2026-02-30',
      '2026-02-30T00:00:00Z',
      -1,
      1.5,
      '-1',
      1e11,
    ]) {
      expect(moment.safeParse(given).success, String(given)).toBe(false)
    }
  })
})
