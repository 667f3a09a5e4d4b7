/** The rent of accounts by the cluster's own rate, which the Rent sysvar holds (solana-rent). */
import { ByteReader, ShortData } from './byte-reader.ts'

/** Bytes that every account counts as more than its data. */
const OVERHEAD_BYTES = 128n

/**
 * Returns a function of an account's bytes that answers the lamports which exempt it from rent, or null for data that is
 * no Rent sysvar.
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
