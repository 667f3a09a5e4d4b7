/** The layout of a record: wallet (32 bytes) ‖ amount (u64, little-endian). */
export const RECORD_BYTES: usize = 40
