/** The instruction of the merkle distributor program that creates an airdrop. */
import { ByteReader, ShortData } from '../byte-reader.ts'

export interface NewDistributor {
  /** What svc calls the airdrop count. */
  version: bigint
  /** Hex, no prefix. */
  root: string
  /** Raw units that can be claimed at most. */
  maxTotal: bigint
  /** Wallets that can claim at most. */
  maxNodes: bigint
}

/** First eight bytes of SHA-256 of `global:new_distributor`, hex. */
const NEW_DISTRIBUTOR = '208b70ab0002e19b'

/** Null for any other instruction, and for data that ends early. */
export function decodeNewDistributor(data: Uint8Array): NewDistributor | null {
  const reader = new ByteReader(data)
  try {
    if (Buffer.from(reader.take(8)).toString('hex') !== NEW_DISTRIBUTOR) return null
    const version = reader.u64()
    const root = Buffer.from(reader.take(32)).toString('hex')
    return { version, root, maxTotal: reader.u64(), maxNodes: reader.u64() }
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
