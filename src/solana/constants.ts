/** What the runtime and the cluster fix: commitments, limits and times. */

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Slots after its own at which a transaction has reached each commitment. */
export const COMMITMENT_DEPTH: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 }
/** Slots for which a blockhash can be used. */
export const BLOCKHASH_SLOTS = 150
export const SLOT_MS = 400
/** Most accounts of one getMultipleAccounts. */
export const ACCOUNTS_PER_CALL = 100
/** Largest serialized transaction, in bytes. */
export const MAX_TRANSACTION_BYTES = 1232
/** Entries of the SlotHashes sysvar: how long a lookup table still serves after it was deactivated, in slots. */
export const SLOT_HASHES = 512

/** Decimals of SOL: a lamport is a billionth of it. */
export const SOL_DECIMALS = 9
