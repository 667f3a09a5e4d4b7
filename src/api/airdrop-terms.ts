/** The terms of an airdrop that commands know without loading the schemas. */

/** Days until the remaining tokens can be withdrawn. */
export const CLAWBACK_DAYS = { fallback: 30, min: 1, max: 3650 } as const

/**
 * Days from the proposal of an airdrop to its start. The program creates no airdrop after its start, so this is the
 * time that the members of a multisig have.
 */
export const PROPOSED_START_DAYS = 14
