/** Finds the decimals of mints in a message, whose checked instructions name them and which the chain enforces. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { decodeInstruction } from '../../../solana/instructions/index.ts'

const CHECKED: readonly string[] = ['transferChecked', 'mintToChecked', 'burnChecked']

export function decimalsIn({ keys, instructions }: DecodedMessage): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { programIdIndex, accounts, data } of instructions) {
    const addresses = [...accounts].map((index) => keys[index] ?? '')
    const called = decodeInstruction(keys[programIdIndex] ?? '', addresses, data)?.instruction
    if (called === undefined || !CHECKED.includes(called.type)) continue
    const { mint, decimals } = called as { mint?: unknown; decimals?: unknown }
    if (typeof mint === 'string' && typeof decimals === 'number') found.set(mint, decimals)
  }
  return found
}
