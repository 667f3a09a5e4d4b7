/** Determines how long a transaction can land: until its blockhash expires, or until its durable nonce advances. */

import type { DecodedMessage } from './decoded-message.ts'
import { SYSTEM_PROGRAM } from './program-ids.ts'

/** A blockhash is valid for 150 blocks: a minute, and up to two on a slow chain. */
export const BLOCKHASH_LIFE_MS = 120_000

/** Blockhash or nonce value of a transaction; `nonceAccount` is null when it does not use a durable nonce. */
export type Lifetime = { blockhash: string; nonceAccount: string | null }

/** Index of SystemProgram::AdvanceNonceAccount among the System program's instructions. */
const ADVANCE_NONCE = 4

/** Returns the lifetime of a transaction. It uses a durable nonce if its first instruction advances one. */
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
