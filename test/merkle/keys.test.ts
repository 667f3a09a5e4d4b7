/** Base58 keys and tree ids. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyFromBase58, keyToBase58, walletFault } from '../../src/merkle/base58.ts'
import { decodeTreeId, encodeTreeId } from '../../src/merkle/tree-id.ts'
import { runs } from '../support/runs.ts'
import { anyKey, walletOf } from './reference.ts'

const edgeKeys = [
  new Uint8Array(32),
  new Uint8Array(32).fill(255),
  Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0)),
  Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0)),
  Uint8Array.from({ length: 32 }, (_, i) => (i < 8 ? 0 : 255)),
]

const anyEdgeKey = fc.oneof(
  anyKey,
  fc.tuple(fc.nat(32), anyKey).map(([zeros, key]) => key.map((byte, i) => (i < zeros ? 0 : byte))),
  fc.constantFrom(...edgeKeys),
)

describe('base58', () => {
  it('writes and reads every key as @scure/base does', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(anyEdgeKey, (key) => {
        const text = base58.encode(key)
        expect(keyToBase58(key)).toBe(text)
        expect(keyFromBase58(text)).toEqual(new Uint8Array(key))
      }),
      { numRuns: runs(100, 2000) },
    )
  })

  it('reads exactly the texts that decode to 32 bytes', { tags: 'sampled' }, () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
    const anyText = fc
      .array(fc.constantFrom(...alphabet, '1', '1', 'z', '0'), { minLength: 28, maxLength: 48 })
      .map((characters) => characters.join(''))
    fc.assert(
      fc.property(anyText, (text) => {
        let expected: Uint8Array | undefined
        try {
          const bytes = base58.decode(text)
          if (bytes.length === 32) expected = new Uint8Array(bytes)
        } catch {}
        expect(keyFromBase58(text)).toEqual(expected)
      }),
      { numRuns: runs(1_000, 5_000) },
    )
  })

  it('explains what is wrong with a wallet', () => {
    const wallet = walletOf(1)
    expect(walletFault('')).toBe('the wallet is empty')
    expect(walletFault(`${wallet.slice(0, 5)}0${wallet.slice(6)}`)).toContain('character 6')
    expect(walletFault(wallet.slice(0, 20))).toContain('characters, not 20')
    expect(walletFault(wallet.slice(0, -1))).toContain('exactly 32 bytes')
    expect(walletFault('0x52908400098527886E0F7030069857D2E4169EE7')).toContain('without 0x')
  })

  it('never repeats a text as long as a secret key', () => {
    const secret = base58.encode(new Uint8Array(64).fill(7))
    expect(walletFault(secret)).toContain('looks like a secret key')
    expect(walletFault(secret)).not.toContain(secret.slice(0, 8))
  })
})

describe('a tree id', () => {
  it('is base64url of mint and big-endian count, and reads back', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(65_535), (mint, airdropCount) => {
        const id = encodeTreeId(mint, airdropCount)
        expect(id).toMatch(/^[\w-]{46}$/)
        const bytes = Buffer.from(id, 'base64url')
        expect([bytes[32]! * 256 + bytes[33]!, bytes.subarray(0, 32).equals(mint)]).toEqual([airdropCount, true])
        expect(decodeTreeId(id)).toEqual({ mint: new Uint8Array(mint), airdropCount })
      }),
    )
  })

  it('has only one spelling', () => {
    const id = encodeTreeId(new Uint8Array(32).fill(9), 513)
    // The last of 46 characters carries four unused bits.
    const others = [...'BCDEFGHIJKLMNOP'].map((last) => id.slice(0, -1) + last).filter((text) => text !== id)
    for (const text of [
      ...others,
      '',
      `${id}=`,
      `${id}==`,
      id.slice(0, -1),
      `${id}A`,
      `${id.slice(0, -1)}+`,
      ` ${id}`,
    ]) {
      expect(decodeTreeId(text)).toBeUndefined()
    }
  })

  it('is refused for a mint that is not 32 bytes or a count that is not a u16', () => {
    expect(() => encodeTreeId(new Uint8Array(31), 0)).toThrow('32 bytes')
    for (const count of [-1, 65_536, 0.5])
      expect(() => encodeTreeId(new Uint8Array(32), count)).toThrow('airdrop_count')
  })
})
