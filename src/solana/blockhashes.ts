/** Compares messages that may differ in their blockhash. */
import { KEY_BYTES } from './constants.ts'
import type { DecodedTransaction } from './messages.ts'

type Message = Pick<DecodedTransaction, 'message' | 'messageBytes'>

/** Whether two messages differ at most in their blockhash. */
export function isSameButBlockhash(one: Message, other: Message): boolean {
  const at = one.message.blockhashOffset
  if (at !== other.message.blockhashOffset || one.messageBytes.length !== other.messageBytes.length) return false
  return one.messageBytes.every((byte, i) => byte === other.messageBytes[i] || (i >= at && i < at + KEY_BYTES))
}
