/** Copies of one transaction that were signed in different places, joined. */
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combineSignatures } from '../../commands/machine/wallets/combined-signatures.ts'
import { withBlockhash } from '../../src/chain/sending/cosign.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction, signatureOffset } from '../../src/solana/messages.ts'
import { signFresh } from '../../src/solana/signatures.ts'
import { someone } from '../support/local-chain.ts'

const CONFIG = { priorityFeeLamports: null, computeUnitLimit: 1, loadedAccountsDataSizeLimit: 1, heapSize: null }
const PROGRAM = someone()
const BLOCKHASH = someone().toBase58()

function built(signers: readonly Keypair[], isVersion1: boolean, data = 0): Uint8Array {
  const keys = signers.map(({ publicKey: pubkey }) => ({ pubkey, isSigner: true, isWritable: false }))
  return compileTransaction({
    payer: signers[0]!.publicKey,
    recentBlockhash: BLOCKHASH,
    instructions: [{ programId: PROGRAM, keys, data: Uint8Array.of(data) }],
    config: isVersion1 ? CONFIG : undefined,
    bytesOf: (key) => key.toBytes(),
  }).transaction
}
function signed(raw: Uint8Array, signers: readonly Keypair[]): Uint8Array {
  const { message, messageBytes } = decodeWireTransaction(raw)
  const copy = Uint8Array.from(raw)
  for (const { publicKey, secretKey } of signers) {
    copy.set(signFresh(secretKey, messageBytes), signatureOffset(copy, message.keys.indexOf(publicKey.toBase58())))
  }
  return copy
}
const base64 = (raw: Uint8Array) => Buffer.from(raw).toString('base64')
const named = (...copies: Uint8Array[]) => copies.map((raw, i) => ({ name: `${i}.json`, transaction: base64(raw) }))
const ADDRESSES = (keypairs: readonly Keypair[]) => keypairs.map(({ publicKey }) => publicKey.toBase58())

describe('Partial signatures', () => {
  it('are combined in any order and number of copies, in every version', () => {
    const signers = Array.from({ length: 4 }, () => Keypair.generate())
    const parts = fc.array(fc.subarray([0, 1, 2, 3]), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(parts, fc.boolean(), (parts, isVersion1) => {
        const raw = built(signers, isVersion1)
        const by = new Set(parts.flat())
        const present = signers.filter((_, i) => by.has(i))
        const copies = parts.map((places) =>
          signed(
            raw,
            places.map((place) => signers[place]!),
          ),
        )
        const combined = combineSignatures(named(...copies))
        expect(combined.transaction).toBe(base64(signed(raw, present)))
        expect(combined.signed).toEqual(ADDRESSES(present))
        expect(combined.missing).toEqual(ADDRESSES(signers.filter((_, i) => !by.has(i))))
        expect(combined.signature === null).toBe(!by.has(0))
      }),
      { numRuns: 40 },
    )
  })

  it.each([false, true])('of another message, or invalid ones, are named (version 1: %s)', (isVersion1) => {
    const signers = [Keypair.generate(), Keypair.generate()]
    const raw = built(signers, isVersion1)
    const one = signed(raw, [signers[0]!])
    const refusal =
      (...copies: Uint8Array[]) =>
      () =>
        combineSignatures(named(...copies))
    expect(refusal(one, built(signers, isVersion1, 1))).toThrow('1.json is another transaction than 0.json')
    const fresh = signed(withBlockhash(raw, someone().toBase58()), [signers[1]!])
    expect(refusal(one, fresh)).toThrow('1.json has another blockhash than 0.json: one of them was refreshed')
    const torn = signed(raw, [signers[1]!])
    torn[signatureOffset(torn, 1)]! ^= 1
    expect(refusal(one, torn)).toThrow(
      `1.json: the signature of ${ADDRESSES(signers)[1]} is not valid for this message`,
    )
    expect(() => combineSignatures([{ name: 'x.json', transaction: 'AAAA' }])).toThrow('x.json')
    expect(() => combineSignatures([])).toThrow('no transaction')
  })
})
