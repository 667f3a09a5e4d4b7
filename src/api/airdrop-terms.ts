/** The terms of an airdrop that commands know without loading the schemas. */

/** Days until the remaining tokens can be withdrawn. */
export const CLAWBACK_DAYS = { fallback: 30, min: 1, max: 3650 } as const
