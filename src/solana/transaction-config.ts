/**
 * The limits and the priority fee in the header of a version 1 message (SIMD-0385), and the mask that says which are
 * set.
 */
import { type MessageReader, malformed } from './message-reader.ts'

/**
 * The limits and fee that a version 1 message sets. A part that is null is absent from the bytes. Instructions of the
 * Compute Budget program have no effect in such a message.
 */
export interface TransactionConfig {
  /** Lamports for the whole transaction, not a price for each unit. Null means none. */
  priorityFeeLamports: bigint | null
  /** Compute units. Null is a limit of 0, with which no instruction can run. */
  computeUnitLimit: number | null
  /** Bytes. Null is a limit of 0, with which no account can be loaded. */
  loadedAccountsDataSizeLimit: number | null
  /** Bytes, in steps of 1,024. Null is 32 KiB. */
  heapSize: number | null
}

/** The priority fee takes both bits, because it takes two values of four bytes. */
const FEE_BITS = 0b11
const UNITS_BIT = 0b100
const LOADED_BIT = 0b1000
const HEAP_BIT = 0b1_0000
const KNOWN_BITS = FEE_BITS | UNITS_BIT | LOADED_BIT | HEAP_BIT
const HEAP_STEP = 1_024
const MIN_HEAP = 32 * 1_024
const MAX_HEAP = 256 * 1_024

/** Returns the config's mask in a message. */
export const configMaskOf = (config: TransactionConfig): number =>
  (config.priorityFeeLamports === null ? 0 : FEE_BITS) |
  (config.computeUnitLimit === null ? 0 : UNITS_BIT) |
  (config.loadedAccountsDataSizeLimit === null ? 0 : LOADED_BIT) |
  (config.heapSize === null ? 0 : HEAP_BIT)

/** Returns the values as they stand in a message, in the order of their bits. */
export function configBytes(config: TransactionConfig): Uint8Array {
  const { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config
  const values = [computeUnitLimit, loadedAccountsDataSizeLimit, heapSize].filter((value) => value !== null)
  const feeBytes = priorityFeeLamports === null ? 0 : 8
  const bytes = Buffer.alloc(feeBytes + 4 * values.length)
  if (priorityFeeLamports !== null) bytes.writeBigUInt64LE(priorityFeeLamports)
  for (const [place, value] of values.entries()) bytes.writeUInt32LE(value, feeBytes + 4 * place)
  return bytes
}

/** Throws MalformedTransaction for a mask whose values a validator cannot read. */
export function checkConfigMask(mask: number): void {
  const fee = mask & FEE_BITS
  if (fee !== 0 && fee !== FEE_BITS) throw malformed('its config mask has one of the two bits of a priority fee')
  if (mask > KNOWN_BITS) throw malformed('its config mask has a bit without a meaning')
}

/** Reads the values that the mask, which `checkConfigMask` has accepted, announces. Throws MalformedTransaction. */
export function readConfig(reader: MessageReader, mask: number): TransactionConfig {
  const what = 'the values of its config'
  const config = {
    priorityFeeLamports: (mask & FEE_BITS) === 0 ? null : reader.u64(what),
    computeUnitLimit: (mask & UNITS_BIT) === 0 ? null : reader.u32(what),
    loadedAccountsDataSizeLimit: (mask & LOADED_BIT) === 0 ? null : reader.u32(what),
    heapSize: (mask & HEAP_BIT) === 0 ? null : reader.u32(what),
  }
  const { heapSize } = config
  if (heapSize !== null && (heapSize % HEAP_STEP !== 0 || heapSize < MIN_HEAP || heapSize > MAX_HEAP)) {
    throw malformed(`its heap of ${heapSize} bytes is not 32 to 256 KiB in steps of 1 KiB`)
  }
  return config
}
