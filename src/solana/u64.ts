/** The integer that programs count lamports and tokens in. */

/** Largest u64. */
export const MAX_U64 = 2n ** 64n - 1n
