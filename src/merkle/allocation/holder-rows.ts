/** Packed rows of holders, sorted by address, which a snapshot stores, hashes and serves in pieces. */
import { HOLDER_KINDS, type HolderKind } from './holder-kinds.ts'

/** Address 32, amount u64 LE, kind u8, flags u8, place of the owning program in a list u16 LE. */
export const HOLDER_ROW_BYTES = 44
/** Number of rows in a stored piece. */
export const ROWS_PER_PIECE = 8_192
/** Place of a program that the list has no room for: the highest u16. */
export const UNLISTED_PROGRAM = 0xffff
/** Place if no program owns an account at the address. */
export const NO_PROGRAM = 0xfffe

const AMOUNT_AT = 32
const KIND_AT = 40
const FLAGS_AT = 41
const PROGRAM_AT = 42
const FROZEN_FLAG = 1

/** Rows in one buffer. */
export interface HolderRows {
  readonly count: number
  readonly bytes: Uint8Array
}

interface HolderRow {
  amount: bigint
  kind: HolderKind
  /** Whether an account of the holder is frozen. */
  isFrozen: boolean
  /** Place of the program in the snapshot's list, `NO_PROGRAM` or `UNLISTED_PROGRAM`. */
  program: number
}

/** Throws RangeError for bytes that are not whole rows. */
export function holderRows(bytes: Uint8Array): HolderRows {
  if (bytes.length % HOLDER_ROW_BYTES !== 0) throw new RangeError(`${bytes.length} bytes are not rows of holders`)
  return { count: bytes.length / HOLDER_ROW_BYTES, bytes }
}

/** Writes one row at its place. The address is copied. */
export function writeHolder(bytes: Uint8Array, index: number, owner: Uint8Array, row: HolderRow): void {
  const at = index * HOLDER_ROW_BYTES
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HOLDER_ROW_BYTES)
  bytes.set(owner, at)
  view.setBigUint64(AMOUNT_AT, row.amount, true)
  view.setUint8(KIND_AT, HOLDER_KINDS.indexOf(row.kind))
  view.setUint8(FLAGS_AT, row.isFrozen ? FROZEN_FLAG : 0)
  view.setUint16(PROGRAM_AT, row.program, true)
}

/** Returns the 32 bytes of a holder's address as a view. */
export const holderAddress = ({ bytes }: HolderRows, index: number): Uint8Array =>
  bytes.subarray(index * HOLDER_ROW_BYTES, index * HOLDER_ROW_BYTES + 32)

/** Throws RangeError for a kind that this version does not know. */
export function holderAt({ bytes }: HolderRows, index: number): HolderRow {
  const at = index * HOLDER_ROW_BYTES
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HOLDER_ROW_BYTES)
  const kind = HOLDER_KINDS[view.getUint8(KIND_AT)]
  if (kind === undefined) throw new RangeError(`holder ${index} is of a kind that this version does not know`)
  return {
    amount: view.getBigUint64(AMOUNT_AT, true),
    kind,
    isFrozen: (view.getUint8(FLAGS_AT) & FROZEN_FLAG) !== 0,
    program: view.getUint16(PROGRAM_AT, true),
  }
}

/** Whether the addresses are strictly ascending, so that none is repeated. */
export function areSorted(rows: HolderRows): boolean {
  for (let i = 1; i < rows.count; i++) {
    if (Buffer.compare(holderAddress(rows, i - 1), holderAddress(rows, i)) >= 0) return false
  }
  return true
}
