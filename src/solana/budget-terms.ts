/**
 * Writes limits and fee into a compiled transaction: instructions at its beginning in version 0, the config in version
 * 1.
 */
import { addressOf } from './addresses.ts'
import { compactLength, readCompactLength } from './bytes.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from './constants.ts'
import { isVersion1 } from './messages.ts'
import { COMPUTE_BUDGET_PROGRAM } from './program-ids.ts'

interface BudgetTerms {
  /** Compute limit. */
  units: number
  /** Micro-lamports per unit, or 0n for a transaction without a price. */
  price: bigint
}

/** Version and header of a message. */
const HEAD_BYTES = 4
/** Program, number of accounts, number of bytes. Each takes one byte. */
const INSTRUCTION_HEAD = 3
/** The first byte of the data names the instruction. */
const SET_LIMIT = 2
const SET_PRICE = 3
const LIMIT_BYTES = 5
const PRICE_BYTES = 9

/** Limits and fee in the config of a version 1 transaction. */
interface ConfigTerms {
  /** Compute limit. */
  units: number
  /** Bytes of account data that may be loaded. */
  loadedBytes: number
  /** Lamports for the whole transaction, or 0n for a config without a priority fee. */
  priorityFee: bigint
}

/**
 * Returns the addresses that an unsigned transaction without lookup tables writes to. It may be one that the chain
 * would
 * refuse.
 */
export function writableAddresses(transaction: Uint8Array): string[] {
  const { keysAt, keys, signers, readonlySigners, readonlyOthers } = keysOf(transaction)
  const places = Array.from({ length: keys }, (_, place) => place).filter((place) =>
    place < signers ? place < signers - readonlySigners : place < keys - readonlyOthers,
  )
  return places.map((place) => addressOf(keyAt(transaction, keysAt, place)))
}

/**
 * Returns the transaction with other terms, unsigned. It must begin with a limit, and then a price unless the terms
 * have
 * none. A price that the terms do not have is removed. Throws an Error for any other transaction.
 */
export function withTerms(transaction: Uint8Array, { units, price }: BudgetTerms): Uint8Array {
  const { keysAt, countAt, instructions, firstAt } = layoutOf(transaction)
  const priceAt = firstAt + INSTRUCTION_HEAD + LIMIT_BYTES
  const sets = (at: number, name: number, bytes: number) =>
    transaction[at + 1] === 0 &&
    transaction[at + 2] === bytes &&
    transaction[at + INSTRUCTION_HEAD] === name &&
    addressOf(keyAt(transaction, keysAt, transaction[at] ?? 0)) === COMPUTE_BUDGET_PROGRAM
  const hasPrice = instructions > 1 && sets(priceAt, SET_PRICE, PRICE_BYTES)
  if (instructions === 0 || !sets(firstAt, SET_LIMIT, LIMIT_BYTES) || (price > 0n && !hasPrice)) {
    throw new Error('The transaction does not begin with compute limit and price')
  }
  const changed = Buffer.from(transaction)
  changed.writeUInt32LE(units, firstAt + INSTRUCTION_HEAD + 1)
  if (price > 0n) changed.writeBigUInt64LE(price, priceAt + INSTRUCTION_HEAD + 1)
  if (price > 0n || !hasPrice) return new Uint8Array(changed)
  const afterPrice = priceAt + INSTRUCTION_HEAD + PRICE_BYTES
  const parts = [
    changed.subarray(0, countAt),
    Uint8Array.from(compactLength(instructions - 1)),
    changed.subarray(firstAt, priceAt),
  ]
  return new Uint8Array(Buffer.concat([...parts, changed.subarray(afterPrice)]))
}

/** Returns all addresses of such a transaction. */
export function namedAddresses(transaction: Uint8Array): string[] {
  const { keysAt, keys } = keysOf(transaction)
  return Array.from({ length: keys }, (_, place) => addressOf(keyAt(transaction, keysAt, place)))
}

/** Places in a version 1 transaction (SIMD-0385). */
const MASK_AT = 4
const KEY_COUNT_AT = 41
const V1_KEYS_AT = 42
/** Bits of the mask: the priority fee has two. */
const FEE_BITS = 0b11
const LIMIT_BITS = 0b1100
const HEAP_BIT = 0b1_0000
const FEE_BYTES = 8

/**
 * Returns a version 1 transaction with other terms, unsigned. Its config must have both limits. Besides, it
 * may have a heap size, which stays, and a priority fee, which is removed if the terms have none. Throws an Error for any other transaction.
 */
export function withConfigTerms(transaction: Uint8Array, { units, loadedBytes, priorityFee }: ConfigTerms): Uint8Array {
  const changed = Buffer.from(transaction)
  const mask = changed.readUInt32LE(MASK_AT)
  const hasFee = (mask & FEE_BITS) === FEE_BITS
  if (!isVersion1(transaction) || (mask & ~(FEE_BITS | HEAP_BIT)) !== LIMIT_BITS || (priorityFee > 0n && !hasFee)) {
    throw new Error('The transaction has no config with both limits and the priority fee')
  }
  const feeAt = V1_KEYS_AT + KEY_BYTES * (changed[KEY_COUNT_AT] ?? 0)
  const limitsAt = feeAt + (hasFee ? FEE_BYTES : 0)
  changed.writeUInt32LE(units, limitsAt)
  changed.writeUInt32LE(loadedBytes, limitsAt + 4)
  if (priorityFee > 0n) changed.writeBigUInt64LE(priorityFee, feeAt)
  if (priorityFee > 0n || !hasFee) return new Uint8Array(changed)
  changed.writeUInt32LE(mask & ~FEE_BITS, MASK_AT)
  return new Uint8Array(Buffer.concat([changed.subarray(0, feeAt), changed.subarray(limitsAt)]))
}

function keysOf(transaction: Uint8Array) {
  if (!isVersion1(transaction)) return layoutOf(transaction)
  const [, signers = 0, readonlySigners = 0, readonlyOthers = 0] = transaction
  return { signers, readonlySigners, readonlyOthers, keys: transaction[KEY_COUNT_AT] ?? 0, keysAt: V1_KEYS_AT }
}

function layoutOf(transaction: Uint8Array) {
  // One byte has the number of signatures, because a packet has no room for 128.
  const messageAt = 1 + SIGNATURE_BYTES * (transaction[0] ?? 0)
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = transaction.subarray(messageAt + 1)
  const keys = readCompactLength(transaction, messageAt + HEAD_BYTES)
  const countAt = keys.end + KEY_BYTES * (keys.value + 1)
  const count = readCompactLength(transaction, countAt)
  return {
    signers,
    readonlySigners,
    readonlyOthers,
    keys: keys.value,
    keysAt: keys.end,
    countAt,
    instructions: count.value,
    firstAt: count.end,
  }
}

const keyAt = (transaction: Uint8Array, keysAt: number, place: number): Uint8Array =>
  transaction.subarray(keysAt + KEY_BYTES * place, keysAt + KEY_BYTES * (place + 1))
