/** Reads what the program keeps: an airdrop's distributor, and the proof that a wallet has claimed. */
import { base58 } from '@scure/base'
import type { Connection } from '@solana/web3.js'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readingOf } from '../../runs.ts'
import { DISTRIBUTOR_ACCOUNTS } from './layout.ts'

/** The program's MerkleDistributor. Amounts are raw units, times Unix seconds. */
export interface Distributor {
  version: bigint
  /** Hex, no prefix. */
  root: string
  mint: string
  vault: string
  maxTotal: bigint
  maxNodes: bigint
  claimedTotal: bigint
  claimedNodes: bigint
  /** When locked amounts begin to vest; what is not locked is paid out before it too. */
  startsAt: bigint
  endsAt: bigint
  /** The time from which anybody can send what is left to the receiver. */
  clawbackAt: bigint
  clawbackReceiver: string
  admin: string
  isClawedBack: boolean
}

/** The program's ClaimStatus. */
export interface ClaimStatus {
  claimant: string
  locked: bigint
  lockedWithdrawn: bigint
  unlocked: bigint
}

const DISTRIBUTOR_BYTES = 234
const CLAIM_STATUS_BYTES = 64

/** Null for what is no distributor of the program. */
export function decodeDistributor(account: ChainAccount | null): Distributor | null {
  const data = distributorDataOf(account, DISTRIBUTOR_ACCOUNTS.distributor, DISTRIBUTOR_BYTES)
  if (data === null) return null
  const key = (at: number) => base58.encode(data.subarray(at, at + 32))
  return {
    version: data.readBigUInt64LE(9),
    root: data.toString('hex', 17, 49),
    mint: key(49),
    vault: key(81),
    maxTotal: data.readBigUInt64LE(113),
    maxNodes: data.readBigUInt64LE(121),
    claimedTotal: data.readBigUInt64LE(129),
    claimedNodes: data.readBigUInt64LE(137),
    startsAt: data.readBigInt64LE(145),
    endsAt: data.readBigInt64LE(153),
    clawbackAt: data.readBigInt64LE(161),
    clawbackReceiver: key(169),
    admin: key(201),
    isClawedBack: data[233] === 1,
  }
}

/** Null for what is no claim status of the program. */
export function decodeClaimStatus(account: ChainAccount | null): ClaimStatus | null {
  const data = distributorDataOf(account, DISTRIBUTOR_ACCOUNTS.claimStatus, CLAIM_STATUS_BYTES)
  if (data === null) return null
  return {
    claimant: base58.encode(data.subarray(8, 40)),
    locked: data.readBigUInt64LE(40),
    lockedWithdrawn: data.readBigUInt64LE(48),
    unlocked: data.readBigUInt64LE(56),
  }
}

/**
 * Answers in the order of the addresses, with a hundred a call, and with the slot that they are read at; null where no distributor is. Throws
 * internal_error where the node fails.
 */
export async function readDistributors(
  connection: Connection,
  addresses: readonly string[],
): Promise<{ slot: number; distributors: (Distributor | null)[] }> {
  const { accounts, newest } = await readingOf(connection, addresses)
  return { slot: newest, distributors: accounts.map(decodeDistributor) }
}

function distributorDataOf(account: ChainAccount | null, discriminator: Buffer, least: number): Buffer | null {
  if (account?.owner !== PROGRAMS.distributor.id || account.data.length < least) return null
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return discriminator.equals(data.subarray(0, 8)) ? data : null
}
