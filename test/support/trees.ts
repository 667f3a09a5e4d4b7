/** Entries of tree bodies for tests, the same on every run. */
import { hash } from 'node:crypto'
import { keyToBase58 } from '../../src/merkle/base58.ts'
import { isEd25519Point } from '../../src/solana/curve.ts'

const known: string[] = []

/** Some wallet, told by its number; each is looked for once. */
export function wallet(number: number): string {
  known[number] ??= found(number)
  return known[number]
}

/** Half of the hashes are on no curve, and the hash of one of those is taken. */
function found(number: number): string {
  let key = hash('sha256', `wallet ${number}`, 'buffer')
  while (!isEd25519Point(key)) key = hash('sha256', key, 'buffer')
  return keyToBase58(key)
}

export const entries = (count: number, amount = (n: number): unknown => String(n + 1)) =>
  Array.from({ length: count }, (_, n) => ({ wallet: wallet(n), amount: amount(n) }))
