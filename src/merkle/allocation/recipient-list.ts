/** Writes recipients as canonical CSV: sorted by the bytes of the wallet, raw units, LF, nothing else. */
import { hash } from 'node:crypto'
import { keyToBase58 } from '../base58.ts'
import type { Allocation } from './allocate.ts'
import { type HolderRows, holderAddress } from './holder-rows.ts'

/** The same holders and amounts give the same bytes on every machine. */
export function recipientCsv(rows: HolderRows, { amounts }: Pick<Allocation, 'amounts'>): Buffer {
  const lines = ['wallet,amount\n']
  amounts.forEach((amount, i) => {
    if (amount > 0n) lines.push(`${keyToBase58(holderAddress(rows, i))},${amount}\n`)
  })
  return Buffer.from(lines.join(''), 'latin1')
}

/** SHA-256 in hex. */
export const sha256Hex = (bytes: Uint8Array): string => hash('sha256', bytes)
