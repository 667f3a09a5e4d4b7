/** The test whether an address is on the curve, held against the library that the SDK takes for it. */
import { Keypair, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isEd25519Point } from '../../src/solana/curve.ts'
import { runs } from '../support/runs.ts'

const P = 2n ** 255n - 19n
const encoded = (y: bigint, sign = 0n) => {
  const bytes = Buffer.from((y + (sign << 255n)).toString(16).padStart(64, '0'), 'hex').reverse()
  return Uint8Array.from(bytes)
}

it('isEd25519Point agrees with the SDK on any 32 bytes', { tags: 'sampled' }, () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      expect(isEd25519Point(key)).toBe(PublicKey.isOnCurve(key))
    }),
    { numRuns: runs(80, 400) },
  )
})

it('isEd25519Point accepts keys and refuses derived addresses', () => {
  for (let n = 0; n < 50; n++) {
    expect(isEd25519Point(Keypair.generate().publicKey.toBytes())).toBe(true)
    const [derived] = PublicKey.findProgramAddressSync([Uint8Array.of(n)], Keypair.generate().publicKey)
    expect(isEd25519Point(derived.toBytes())).toBe(false)
  }
})

it('isEd25519Point agrees with the SDK on the smallest and largest encodings', () => {
  const edges = [0n, 1n, 2n, 3n, 4n, 18n, P - 2n, P - 1n, P, P + 1n, 2n ** 255n - 1n]
  for (const y of edges) {
    for (const sign of [0n, 1n]) {
      const key = encoded(y, sign)
      expect([y, sign, isEd25519Point(key)]).toEqual([y, sign, PublicKey.isOnCurve(key)])
    }
  }
})
