/** Checks a proposal that the API answered, before anybody signs about it: its id, and the hash of its transaction. */
import { hash } from 'node:crypto'
import type { Proposal } from '../../src/api/proposals.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { failure } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'

/** Throws a failure if it is another proposal than `id`, or if its transaction has another hash than it names. */
export function requireAnswered(id: string, { id: answered, transaction, message_sha256 }: Proposal): void {
  if (answered !== id) throw failure(`the API answered the proposal ${printable(answered)} instead of ${id}`)
  const sha256 = messageSha256(transaction)
  if (sha256 === message_sha256) return
  throw failure(
    `the API names the hash ${printable(message_sha256)}, but its transaction has ${sha256}: nothing was signed`,
    { next: 'ask the operator of the API; its database or an answer was changed' },
  )
}

/** SHA-256 in hex of the message with a zero blockhash. Throws a failure if it is not a transaction. */
export function messageSha256(transaction: string): string {
  const { messageBytes, message } = decodeWireTransaction(Buffer.from(transaction, 'base64'))
  const timeless = Uint8Array.from(messageBytes).fill(0, message.blockhashOffset, message.blockhashOffset + 32)
  return hash('sha256', timeless, 'hex')
}
