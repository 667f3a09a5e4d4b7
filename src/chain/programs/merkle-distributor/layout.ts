/** Encodes the program's data: names of instructions and accounts, and numbers. */
import { createHash } from 'node:crypto'

/** Anchor identifies instructions and accounts by the first eight bytes of a hash of their names. */
const discriminator = (name: string): Buffer => createHash('sha256').update(name).digest().subarray(0, 8)

export const DISTRIBUTOR_INSTRUCTIONS = {
  newDistributor: discriminator('global:new_distributor'),
  newClaim: discriminator('global:new_claim'),
  claimLocked: discriminator('global:claim_locked'),
  clawback: discriminator('global:clawback'),
} as const

export const DISTRIBUTOR_ACCOUNTS = {
  distributor: discriminator('account:MerkleDistributor'),
  claimStatus: discriminator('account:ClaimStatus'),
} as const

export function u64Bytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

export function i64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
