/** Limits and times that the runtime and the cluster define, and the commitment levels. */

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Whether a transaction is guarded: always, if there is room, or never. */
export const GUARD_MODES = ['required', 'when_it_fits', 'off'] as const
export type GuardMode = (typeof GUARD_MODES)[number]

export const CONSENSUSES = ['alpenglow', 'tower'] as const
/** How a cluster agrees on its blocks: Alpenglow (SIMD-0326), or Tower BFT before it. */
export type Consensus = (typeof CONSENSUSES)[number]
/** Their names for people. */
export const CONSENSUS_NAMES: Readonly<Record<Consensus, string>> = { alpenglow: 'Alpenglow', tower: 'Tower' }

/**
 * Number of slots after its own at which a transaction reaches each commitment. Under Alpenglow confirmed and finalized
 * name the same block.
 */
export const COMMITMENT_DEPTH: Readonly<Record<Consensus, Readonly<Record<Commitment, number>>>> = {
  alpenglow: { processed: 0, confirmed: 1, finalized: 1 },
  tower: { processed: 0, confirmed: 1, finalized: 32 },
}
/** Number of slots for which a blockhash is valid. */
export const BLOCKHASH_SLOTS = 150
/**
 * After this many slots, a report of an expired blockhash is true. A node that lags by up to 100 slots also reports a
 * blockhash that it has not seen yet as expired. Skipped slots do not count towards the age of a blockhash.
 */
export const ENDED_BLOCKHASH_SLOTS = BLOCKHASH_SLOTS + 100
/** Maximum number of accounts in one getMultipleAccounts call. */
export const ACCOUNTS_PER_CALL = 100
/** Maximum size in bytes of a serialized transaction that is legacy or of version 0. */
export const MAX_TRANSACTION_BYTES = 1232
/** Maximum size in bytes of a serialized transaction of version 1 (SIMD-0296). */
export const MAX_V1_TRANSACTION_BYTES = 4096
/** Bytes of a public key and of a signature. */
export const KEY_BYTES = 32
export const SIGNATURE_BYTES = 64
/**
 * Entries of the SlotHashes sysvar, which is the number of slots a lookup table stays usable after its deactivation.
 */
export const SLOT_HASHES = 512

/** Decimals of SOL; a lamport is a billionth of a SOL. */
export const SOL_DECIMALS = 9
/** Most bytes of accounts that a transaction can load, whatever limit it sets (SIMD-0186). */
export const MAX_LOADED_BYTES = 64 * 1024 * 1024
/** Bytes that each loaded account counts in addition to its data (SIMD-0186). */
export const LOADED_ACCOUNT_BYTES = 64
/** Compute units that one transaction can use at most, whatever limit it sets. */
export const MAX_COMPUTE_UNITS = 1_400_000
/** Instructions that one transaction can execute at most, calls between programs included. */
export const MAX_INSTRUCTION_TRACE = 64
/** Positions of DAMM v2 whose fees fit in one transaction. A separate payer also signs, and takes the room of one. */
export const POSITIONS_PER_CLAIM = { own: 6, other: 5 } as const

/** Most rounds of a raise; the program's word for a round is registry, and it counts them from 0. */
export const MOST_ROUNDS = 5
