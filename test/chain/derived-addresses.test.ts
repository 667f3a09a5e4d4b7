/** Addresses that are kept are those that web3.js finds. */
import { randomBytes } from 'node:crypto'
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { associatedTokenAddress, deriveAddress } from '../../src/solana/program-addresses.ts'
import { runs } from '../support/runs.ts'

const keyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

it('a derived address equals that of web3.js, the first time and from memory', { tags: 'sampled' }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 4 }), keyBytes, async (seeds, key) => {
      const program = new PublicKey(key)
      const [address, bump] = PublicKey.findProgramAddressSync(seeds, program)
      for (const found of [deriveAddress(String(program), ...seeds), deriveAddress(String(program), ...seeds)]) {
        expect(found).toEqual({ address: address.toBase58(), bump })
      }
    }),
    { numRuns: runs(10, 40) },
  )
})

it('a derived address equals that of web3.js for seeds with equal joined bytes, and for another program', () => {
  const [program, other] = [new PublicKey(randomBytes(32)), new PublicKey(randomBytes(32))]
  const requests: [string[], PublicKey][] = [
    [['ab', 'c'], program],
    [['a', 'bc'], program],
    [['ab', 'c'], other],
    [['\u00ff', '\u00ff'], program],
  ]
  for (const [texts, of] of [...requests, ...requests]) {
    const seeds = texts.map((text) => Buffer.from(text, 'latin1'))
    expect(deriveAddress(String(of), ...seeds).address).toBe(PublicKey.findProgramAddressSync(seeds, of)[0].toBase58())
  }
})

it('associated token accounts are derived for both token programs, and for owners off the curve', () => {
  const mint = new PublicKey(randomBytes(32))
  const offCurve = new PublicKey(deriveAddress(String(TOKEN_PROGRAM_ID), randomBytes(32)).address)
  for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
    for (const owner of [new PublicKey(randomBytes(32)), offCurve]) {
      const expected = getAssociatedTokenAddressSync(mint, owner, true, program)
      expect(associatedTokenAddress(String(owner), String(mint), String(program))).toBe(expected.toBase58())
    }
  }
})
