/**
 * Durable nonces: transactions that use the value of a nonce account as blockhash and advance it in their first
 * instruction. A nonce is derived from the blockhash of the slot in which it is set, so it changes once in a slot.
 */

import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { ChainAccount } from '../solana/accounts.ts'
import { addressOf } from '../solana/addresses.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import { type DecodedTransaction, decodeWireTransaction, isWritable } from '../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'

const ADVANCE_NONCE_ACCOUNT = 4
const NONCE_ACCOUNT_BYTES = 80
const AUTHORITY = 8
const NONCE_VALUE = 40

/** Returns the address of the nonce account that makes a message's blockhash valid; null when there is none. */
export function nonceAccountOf(
  message: DecodedMessage,
  account: (address: string) => ChainAccount | null,
): string | null {
  const first = message.instructions[0]
  if (first === undefined || message.keys[first.programIdIndex] !== SYSTEM_PROGRAM) return null
  if (
    first.data.length < 4 ||
    new DataView(Uint8Array.from(first.data).buffer).getUint32(0, true) !== ADVANCE_NONCE_ACCOUNT
  ) {
    return null
  }
  const index = first.accounts[0]
  const address = index === undefined ? undefined : message.keys[index]
  if (index === undefined || address === undefined || !isWritable(message, 0, index)) return null
  const nonce = account(address)
  if (nonce === null || nonce.owner !== SYSTEM_PROGRAM || nonce.data.length !== NONCE_ACCOUNT_BYTES) return null
  const view = new DataView(nonce.data.buffer, nonce.data.byteOffset, nonce.data.byteLength)
  if (view.getUint32(0, true) !== 1 || view.getUint32(4, true) !== 1) return null
  if (base58.encode(nonce.data.subarray(NONCE_VALUE, NONCE_VALUE + 32)) !== message.recentBlockhash) return null
  const authority = addressOf(nonce.data.subarray(AUTHORITY, AUTHORITY + 32))
  const signed = first.accounts.some((i) => i < message.signers && message.keys[i] === authority)
  return signed ? address : null
}

/**
 * Returns the nonce account after a transaction that used `blockhash`; validators advance it even if the transaction
 * fails.
 */
export function advanceNonce(nonce: ChainAccount, blockhash: string): ChainAccount {
  const data = Uint8Array.from(nonce.data)
  data.set(nonceBytes(blockhash), NONCE_VALUE)
  return { ...nonce, data }
}

/** The nonce that is set in a slot with this blockhash; with it as blockhash, a transaction has to wait for the next. */
export const nonceOf = (blockhash: string): string => base58.encode(nonceBytes(blockhash))

const nonceBytes = (blockhash: string): Uint8Array =>
  createHash('sha256').update('DURABLE_NONCE').update(base58.decode(blockhash)).digest()

/** Returns the transaction with another blockhash; its signatures do not hold. */
export function replaceBlockhash(transaction: DecodedTransaction, blockhash: string): DecodedTransaction {
  const { raw, messageBytes, message } = transaction
  const changed = Uint8Array.from(raw)
  changed.set(base58.decode(blockhash), messageBytes.byteOffset - raw.byteOffset + message.blockhashOffset)
  return decodeWireTransaction(changed)
}
