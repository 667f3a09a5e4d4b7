/** Recipient lists: the same wallets and amounts in every run. */
import { hash } from 'node:crypto'
import { keyToBase58 } from '../../src/merkle/base58.ts'

export const MINT = 'So11111111111111111111111111111111111111112'

/** A CSV with a header and so many rows of wallet and amount in base units. */
export function recipientCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const wallet = keyToBase58(hash('sha256', `bench wallet ${n}`, 'buffer'))
    return `${wallet},${1_000_000 + ((n * 7919) % 1_000_000_000)}\n`
  })
  return `wallet,amount\n${lines.join('')}`
}
