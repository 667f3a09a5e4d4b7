/** How long a transaction can land: until its blockhash grows old, or until its durable nonce moves on. */

import type { DecodedMessage } from './messages.ts'
import { SYSTEM_PROGRAM } from './program-ids.ts'

/** `nonceAccount` is null for a transaction that lasts as long as its blockhash. */
export type Lifetime = { blockhash: string; nonceAccount: string | null }

/** Index of SystemProgram::AdvanceNonceAccount among the System program's instructions. */
const ADVANCE_NONCE = 4

/** A durable nonce is advanced by the first instruction of the message. */
export function lifetimeOf({ keys, instructions, recentBlockhash }: DecodedMessage): Lifetime {
  const [first] = instructions
  const data = Buffer.from(first?.data ?? [])
  const isAdvance =
    first !== undefined &&
    keys[first.programIdIndex] === SYSTEM_PROGRAM &&
    data.length >= 4 &&
    data.readUInt32LE(0) === ADVANCE_NONCE
  const account = isAdvance ? first.accounts[0] : undefined
  return { blockhash: recentBlockhash, nonceAccount: account === undefined ? null : (keys[account] ?? null) }
}
