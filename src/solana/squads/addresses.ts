/** Addresses of a Squads v4 multisig: its vaults, transactions, proposals, ephemeral signers and buffers. */
import { addressBytes } from '../addresses.ts'
import { deriveAddress, type ProgramAddress } from '../program-addresses.ts'
import { PROGRAMS } from '../programs.ts'
import { MAX_U64 } from '../u64.ts'

/** Most ephemeral signers and vaults that the program can number. */
export const MAX_INDEX = 255

const text = (word: string) => Buffer.from(word)
const PREFIX = text('multisig')

/** The address of a multisig, from the key that signed its creation. */
export const multisigAddress = (createKey: string): string => derive(PREFIX, addressBytes(createKey)).address

/** The address that holds the SOL and owns the tokens of a vault, 0 to 255. */
export const vaultAddress = (multisig: string, vaultIndex: number): string => findVault(multisig, vaultIndex).address

/** The account with the stored message of a transaction; the first has index 1. */
export const squadsTransactionAddress = (multisig: string, index: bigint): string =>
  findTransaction(multisig, index).address

/** The account with the votes about a transaction. */
export const squadsProposalAddress = (multisig: string, index: bigint): string => findProposal(multisig, index).address

/**
 * A signer that the program signs for when it executes `transaction`, for example a new mint. The transaction's index
 * fixes the address, so another index has other signers.
 */
export const ephemeralSignerAddress = (transaction: string, index: number): string =>
  findEphemeralSigner(transaction, index).address

/** Most accounts that one act makes anew: config, mint, positions. Each is an ephemeral signer. */
export const MOST_NEW_ACCOUNTS = 8

/** The ephemeral signers of a transaction, by their places. */
export function ephemeralSignersOf(multisig: string, index: bigint, count: number): string[] {
  const transaction = squadsTransactionAddress(multisig, index)
  return Array.from({ length: count }, (_, i) => ephemeralSignerAddress(transaction, i))
}

/** The account in which a member collects a message that is too large for one transaction. */
export const transactionBufferAddress = (multisig: string, creator: string, bufferIndex: number): string =>
  derive(addressBytes(multisig), text('transaction_buffer'), addressBytes(creator), byte(bufferIndex)).address

export const findVault = (multisig: string, vaultIndex: number): ProgramAddress =>
  derive(addressBytes(multisig), text('vault'), byte(vaultIndex))

export const findTransaction = (multisig: string, index: bigint): ProgramAddress =>
  derive(addressBytes(multisig), text('transaction'), u64(index))

export const findProposal = (multisig: string, index: bigint): ProgramAddress =>
  derive(addressBytes(multisig), text('transaction'), u64(index), text('proposal'))

export const findEphemeralSigner = (transaction: string, index: number): ProgramAddress =>
  derive(addressBytes(transaction), text('ephemeral_signer'), byte(index))

const derive = (...seeds: readonly Uint8Array[]): ProgramAddress => deriveAddress(PROGRAMS.squads.id, PREFIX, ...seeds)

/** Throws RangeError for a number that is not 0 to 255. */
function byte(index: number): Buffer {
  if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) throw new RangeError(`${index} is not 0 to 255`)
  return Buffer.of(index)
}

/** Throws RangeError for a number that does not fit in 64 bits. */
function u64(index: bigint): Buffer {
  if (index < 0n || index > MAX_U64) throw new RangeError(`${index} is not a number of 64 bits`)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(index)
  return bytes
}
