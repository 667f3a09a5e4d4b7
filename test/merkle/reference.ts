/** A second, naive implementation of lists, trees and proofs, written from the contract alone, to test against. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { u64 } from '../support/little-endian.ts'

export { u64 }

export interface Recipient {
  wallet: string
  amount: bigint
  locked?: bigint
}

export const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hasher = createHash('sha256')
  for (const part of parts) hasher.update(part)
  return hasher.digest()
}

export const naiveLeaf = ({ wallet, amount, locked = 0n }: Recipient): Buffer =>
  sha256(Buffer.from([0]), sha256(base58.decode(wallet), u64(amount), u64(locked)))

const naiveNode = (a: Buffer, b: Buffer): Buffer =>
  sha256(Buffer.from([1]), ...(Buffer.compare(a, b) <= 0 ? [a, b] : [b, a]))

export function naiveLevels(recipients: readonly Recipient[]): Buffer[][] {
  const levels = [recipients.map(naiveLeaf)]
  for (let level = levels[0]!; level.length > 1; levels.push(level)) {
    const below = level
    level = []
    for (let i = 0; i < below.length; i += 2) level.push(naiveNode(below[i]!, below[i + 1] ?? below[i]!))
  }
  return levels
}

export const naiveRoot = (recipients: readonly Recipient[]): string =>
  naiveLevels(recipients).at(-1)![0]!.toString('hex')

export function naiveProof(levels: Buffer[][], index: number): string[] {
  return levels.slice(0, -1).map((level, depth) => {
    const i = index >> depth
    return (level[i ^ 1] ?? level[i]!).toString('hex')
  })
}

export function naiveVerify(recipient: Recipient, proof: readonly string[], root: string): boolean {
  return (
    proof.reduce((node, hex) => naiveNode(node, Buffer.from(hex, 'hex')), naiveLeaf(recipient)).toString('hex') === root
  )
}

/** The same distinct wallet for the same number, everywhere. */
export const walletOf = (number: number): string => base58.encode(sha256(Buffer.from(`wallet ${number}`)))

export const recipientsOf = (count: number): Recipient[] =>
  Array.from({ length: count }, (_, i) => ({
    wallet: walletOf(i),
    amount: (BigInt(i) * 0x9e3779b97f4a7c15n) % 2n ** 64n,
  }))

/** So many of them that somebody can sign for: half of all keys are on the curve. */
export const signersOf = (count: number): Recipient[] =>
  recipientsOf(count * 4)
    .filter(({ wallet }) => PublicKey.isOnCurve(wallet))
    .slice(0, count)

export const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 })
export const anyWallet = anyKey.map((key) => base58.encode(key))
export const anyAmount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** Amounts of one leaf, whose sum is a u64: often equal, often without a locked part. */
export const anyAmounts = fc
  .tuple(fc.oneof(fc.bigInt(0n, 2n), anyAmount), fc.oneof(fc.constant(0n), fc.bigInt(1n, 2n), anyAmount))
  .map(([amount, locked]) => ({ amount, locked: amount + locked < 2n ** 64n ? locked : 2n ** 64n - 1n - amount }))
export const anyRecipients = (maxLength: number): fc.Arbitrary<Recipient[]> =>
  fc.uniqueArray(fc.record({ wallet: anyWallet, amount: anyAmount }), {
    minLength: 1,
    maxLength,
    selector: ({ wallet }) => wallet,
  })

/**
 * The wallet of number `n`, below 39,304, of a list that was crafted to collide: a product carries the high bits of its
 * factors upwards alone, so a hash of products could lose these three characters, each the last of four.
 */
export function collidingWallet(n: number): string {
  const wallet = [...'4A'.repeat(22)]
  for (const [i, place] of [31, 35, 39].entries()) wallet[place] = CASELESS[Math.floor(n / 34 ** i) % 34] ?? ''
  return wallet.join('')
}

const CASELESS = '123456789abcdefghijkmnopqrstuvwxyz'
