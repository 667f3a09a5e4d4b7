/** The rent of accounts by the cluster's rate in the Rent sysvar (solana-rent). */
import { ByteReader, ShortData } from './byte-reader.ts'

/** Bytes that every account counts in addition to its data. */
const OVERHEAD_BYTES = 128n

/** More than ten times what any cluster has asked. A policy excuses rent, so a lying node must not set it at will. */
const MOST_LAMPORTS_PER_BYTE = 100_000

/** The lamports that make an account rent-exempt, by the bytes of its data. */
export type RentRate = (bytes: number) => bigint

/** Returns null for data that is not a Rent sysvar, or of an implausible rate. */
export function rentRateIn(data: Uint8Array): RentRate | null {
  try {
    const reader = new ByteReader(data)
    const [lamportsPerByteYear, years] = [reader.u64(), reader.f64()]
    const perByte = Number(lamportsPerByteYear) * years
    if (!(perByte >= 0 && perByte <= MOST_LAMPORTS_PER_BYTE)) return null
    return (bytes) => BigInt(Math.trunc(Number((BigInt(bytes) + OVERHEAD_BYTES) * lamportsPerByteYear) * years))
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}

/** Divides the rent of several accounts into that of each, in proportion to their bytes, as the rate does. */
export function dividedRent(total: bigint, sizes: readonly number[]): bigint[] {
  const bytes = sizes.map((size) => BigInt(size) + OVERHEAD_BYTES)
  const all = bytes.reduce((sum, one) => sum + one, 0n)
  return bytes.map((one) => (total * one) / all)
}
