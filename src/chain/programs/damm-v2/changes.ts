/** Reads which DAMM v2 pools a transaction creates, trades in and claims from, by its own instructions. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

export type DammV2Change =
  | { kind: 'pool_created'; pool: string; creator: string; tokenAMint: string; tokenBMint: string; position: string }
  | { kind: 'swap'; pool: string; trader: string; amountIn: bigint | null }
  /** The owner of the position signs, or its delegate. `nftAccount` is the token account of the position's NFT. */
  | { kind: 'claim'; pool: string; position: string; nftAccount: string; owner: string }

interface DammV2InstructionReading {
  /** Indexes of the accounts that a change names. */
  at: Readonly<Record<string, number>>
  kind: DammV2Change['kind']
}

const POOL_CREATED = { kind: 'pool_created' } as const
const SWAP = { kind: 'swap', at: { pool: 1, trader: 8 } } as const

/** Readers by the first eight bytes of the data in hex, the hash of the instruction's name in Anchor. */
const DAMM_V2_INSTRUCTIONS: Readonly<Record<string, DammV2InstructionReading>> = {
  // The instruction initialize_customizable_pool.
  '14a1f118bdddb402': { ...POOL_CREATED, at: { creator: 0, pool: 5, position: 6, tokenAMint: 7, tokenBMint: 8 } },
  // The instruction initialize_pool.
  '5fb40aac54aee828': { ...POOL_CREATED, at: { creator: 0, pool: 6, position: 7, tokenAMint: 8, tokenBMint: 9 } },
  // The instruction initialize_pool_with_dynamic_config.
  '955248c5fdfc440f': { ...POOL_CREATED, at: { creator: 0, pool: 7, position: 8, tokenAMint: 9, tokenBMint: 10 } },
  // The instruction swap.
  f8c69e91e17587c8: SWAP,
  // The instruction swap2.
  '414b3f4ceb5b5b88': SWAP,
  // The instruction claim_position_fee.
  b4269a118521a2d3: { kind: 'claim', at: { pool: 1, position: 2, nftAccount: 9, owner: 10 } },
}
const SWAP_2 = '414b3f4ceb5b5b88'
/** Mode of swap2 in which the first amount is the output. */
const EXACT_OUT = 2

/**
 * Returns changes in the order of the instructions, whether or not the transaction succeeds. Calls between programs, as
 * in a migration to DAMM v2, and accounts from lookup tables are not included.
 */
export function dammV2ChangesIn({ keys, instructions }: DecodedMessage): DammV2Change[] {
  const changes: DammV2Change[] = []
  for (const { programIdIndex, accounts, data } of instructions) {
    if (keys[programIdIndex] !== PROGRAMS.dammV2.id) continue
    const name = Buffer.from(data.subarray(0, 8)).toString('hex')
    const reading = DAMM_V2_INSTRUCTIONS[name]
    if (reading === undefined) continue
    const named = Object.entries(reading.at).map(([field, index]) => [field, keys[accounts[index] ?? -1]] as const)
    if (named.some(([, key]) => key === undefined)) continue
    const amount = reading.kind === 'swap' ? { amountIn: firstAmountIn(name, data) } : {}
    changes.push({ kind: reading.kind, ...Object.fromEntries(named), ...amount } as DammV2Change)
  }
  return changes
}

/** Returns null when the order fixes the output instead, or is truncated. */
function firstAmountIn(name: string, data: Uint8Array): bigint | null {
  if (data.length < 16 || (name === SWAP_2 && data[24] === EXACT_OUT)) return null
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).readBigUInt64LE(8)
}
