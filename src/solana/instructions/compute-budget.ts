/** Instructions of the Compute Budget program that determine the priority fee, and the heap of programs. */
import { ByteReader, ShortData } from '../byte-reader.ts'

export type ComputeBudgetInstruction =
  /** Memory of each program, in bytes. */
  | { type: 'requestHeapFrame' | 'setLoadedAccountsDataSizeLimit'; bytes: number }
  | { type: 'setComputeUnitLimit'; units: number }
  /** Price in micro-lamports per compute unit. */
  | { type: 'setComputeUnitPrice'; microLamports: bigint }

/** Decodes the instruction; null for other instructions of the program and for truncated data. */
export function decodeComputeBudget(data: Uint8Array, reader = new ByteReader(data)): ComputeBudgetInstruction | null {
  try {
    const tag = reader.u8()
    if (tag === 1) return { type: 'requestHeapFrame', bytes: reader.u32() }
    if (tag === 2) return { type: 'setComputeUnitLimit', units: reader.u32() }
    if (tag === 3) return { type: 'setComputeUnitPrice', microLamports: reader.u64() }
    if (tag === 4) return { type: 'setLoadedAccountsDataSizeLimit', bytes: reader.u32() }
    return null
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
