/** Recipient lists for the benches: the same wallets and amounts in every run. */
import { hash } from 'node:crypto'
import { keyToBase58 } from '../../src/merkle/base58.ts'

/** `[wallet, amount in base units]` for the numbers 0 to count - 1. */
export function* recipients(count: number): Generator<[string, string]> {
  for (let i = 0; i < count; i++) {
    yield [keyToBase58(hash('sha256', `bench wallet ${i}`, 'buffer')), String(1_000_000 + ((i * 7919) % 1_000_000_000))]
  }
}
