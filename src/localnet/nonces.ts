/**
 * Durable nonces: transactions that use the value of a nonce account as blockhash and advance it in their first
 * instruction. A nonce is derived from the blockhash of the slot in which it is set, so it changes once in a slot.
 */

import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { ChainAccount } from '../solana/accounts.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import { lifetimeOf } from '../solana/lifetimes.ts'
import { type DecodedTransaction, decodeWireTransaction, isWritable } from '../solana/messages.ts'
import { SYSTEM } from '../solana/programs/system.ts'

/** Returns the address of the nonce account that makes a message's blockhash valid; null when there is none. */
export function nonceAccountOf(
  message: DecodedMessage,
  account: (address: string) => ChainAccount | null,
): string | null {
  const address = lifetimeOf(message).nonceAccount
  const accounts = message.instructions[0]?.accounts ?? []
  const [index] = accounts
  if (address === null || index === undefined || !isWritable(message, 0, index)) return null
  const nonce = SYSTEM.decode('nonce', account(address))
  if (nonce === null || nonce.version !== 1 || nonce.state !== 1 || nonce.value !== message.recentBlockhash) return null
  const signed = accounts.some((i) => i < message.signers && message.keys[i] === nonce.authority)
  return signed ? address : null
}

/**
 * Returns the nonce account after a transaction that used `blockhash`; validators advance it even if the transaction
 * fails.
 */
export function advanceNonce(nonce: ChainAccount, blockhash: string): ChainAccount {
  const data = Uint8Array.from(nonce.data)
  data.set(nonceBytes(blockhash), SYSTEM.offsetOf('nonce', 'value'))
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
