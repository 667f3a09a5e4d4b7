/** The rent of accounts by the cluster's rate in the Rent sysvar (solana-rent). */
import { ByteReader, ShortData } from './byte-reader.ts'

/** Bytes that every account counts in addition to its data. */
const OVERHEAD_BYTES = 128n

/**
 * Returns a function from an account's bytes to its rent-exempt lamports, or null for data that is not a Rent sysvar.
 */
export function rentRateIn(data: Uint8Array): ((bytes: number) => bigint) | null {
  try {
    const reader = new ByteReader(data)
    const [lamportsPerByteYear, years] = [reader.u64(), reader.f64()]
    if (!Number.isFinite(years) || years < 0 || lamportsPerByteYear > 1_000_000_000n) return null
    return (bytes) => BigInt(Math.trunc(Number((BigInt(bytes) + OVERHEAD_BYTES) * lamportsPerByteYear) * years))
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
