/** The instruction of the merkle distributor program that creates an airdrop. */
import { ByteReader, ShortData } from '../byte-reader.ts'

export interface NewDistributor {
  /** Number of the airdrop, which the program calls the version. */
  version: bigint
  /** Merkle root in hex without a prefix. */
  root: string
  /** Maximum raw units that can be claimed in total. */
  maxTotal: bigint
  /** Maximum number of wallets that can claim. */
  maxNodes: bigint
  /** Unix seconds between which locked amounts vest. */
  startsAt: bigint
  endsAt: bigint
}

/** First eight bytes of SHA-256 of `global:new_distributor`, hex. */
const NEW_DISTRIBUTOR = '208b70ab0002e19b'

/** Decodes the instruction; null for any other instruction and for truncated data. */
export function decodeNewDistributor(data: Uint8Array): NewDistributor | null {
  const reader = new ByteReader(data)
  try {
    if (Buffer.from(reader.take(8)).toString('hex') !== NEW_DISTRIBUTOR) return null
    const version = reader.u64()
    const root = Buffer.from(reader.take(32)).toString('hex')
    const [maxTotal, maxNodes] = [reader.u64(), reader.u64()]
    return { version, root, maxTotal, maxNodes, startsAt: reader.i64(), endsAt: reader.i64() }
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
