/** Limit of u64, the integer type in which programs count lamports and tokens. */

/** Largest u64, which is also the largest amount that a token account can hold. */
export const MAX_U64 = 2n ** 64n - 1n
