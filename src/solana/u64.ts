/** Limits of the integer types in which programs count: u64 for lamports and tokens, u128 for liquidity. */

/** Largest u64, which is also the largest amount that a token account can hold. */
export const MAX_U64 = 2n ** 64n - 1n

export const MAX_U128 = 2n ** 128n - 1n
