/** The layout of a record: wallet (32 bytes) ‖ amount (u64, little-endian). */
export const RECORD_BYTES: usize = 40

/** Size of the hash of one record's wallet. */
export const HASH_BYTES: usize = 8
