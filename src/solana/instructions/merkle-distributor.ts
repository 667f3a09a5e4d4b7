/**
 * Instructions of the merkle distributor program: the one that creates an airdrop, and those by which a wallet claims.
 */
import { ByteReader, ShortData } from '../byte-reader.ts'
import { SYSTEM_PROGRAM } from '../program-ids.ts'

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

/** A claim of the unlocked amount (`newClaim`), or of the vested part of a locked amount (`claimLocked`). */
export interface DistributorClaimInstruction {
  type: 'newClaim' | 'claimLocked'
  distributor: string
  claimStatus: string
  /** Token account of the distributor. */
  vault: string
  /** Token account that is paid. */
  tokenAccount: string
  claimant: string
  tokenProgram: string
}

/** First eight bytes of SHA-256 of `global:new_claim` and `global:claim_locked`, hex. */
const CLAIM_TYPES: ReadonlyMap<string, DistributorClaimInstruction['type']> = new Map([
  ['4eb1627bd215bb53', 'newClaim'],
  ['22ceb5170bcf935a', 'claimLocked'],
])
const HASH_BYTES = 32

/** Decodes a claim; null for any other instruction, and for accounts or data that are not exactly those of a claim. */
export function decodeDistributorClaim(
  accounts: readonly string[],
  data: Uint8Array,
): DistributorClaimInstruction | null {
  const reader = new ByteReader(data)
  try {
    const type = CLAIM_TYPES.get(Buffer.from(reader.take(8)).toString('hex'))
    if (type === undefined) return null
    if (type === 'newClaim') {
      // Both amounts precede the proof.
      reader.take(16)
      reader.take(reader.u32() * HASH_BYTES)
    }
    const [distributor, claimStatus, vault, tokenAccount, claimant, tokenProgram, ...others] = accounts
    if (reader.left > 0 || distributor === undefined || claimStatus === undefined || vault === undefined) return null
    if (tokenAccount === undefined || claimant === undefined || tokenProgram === undefined) return null
    const isWhole = type === 'newClaim' ? others.length === 1 && others[0] === SYSTEM_PROGRAM : others.length === 0
    return isWhole ? { type, distributor, claimStatus, vault, tokenAccount, claimant, tokenProgram } : null
  } catch (error) {
    if (error instanceof ShortData) return null
    throw error
  }
}
