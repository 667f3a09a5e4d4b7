/** Instructions of the Compute Budget program that decide the priority fee. */
import { ByteReader, ShortData } from '../byte-reader.ts'

export type ComputeBudgetInstruction =
  | { type: 'setComputeUnitLimit'; units: number }
  /** In millionths of a lamport for each unit. */
  | { type: 'setComputeUnitPrice'; microLamports: bigint }

/** Null for any other instruction of the program, and for data that ends early. */
export function decodeComputeBudget(data: Uint8Array): ComputeBudgetInstruction | null {
  const reader = new ByteReader(data)
  try {
    const tag = reader.u8()
    if (tag === 2) return { type: 'setComputeUnitLimit', units: reader.u32() }
    if (tag === 3) return { type: 'setComputeUnitPrice', microLamports: reader.u64() }
    return null
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
