/** The integer in which programs count lamports and tokens. */

/** Largest u64, and so the largest amount that a token account can hold. */
export const MAX_U64 = 2n ** 64n - 1n
