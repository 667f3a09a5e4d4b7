/** Determines how long a transaction can land: until its blockhash expires, or until its durable nonce advances. */

import type { CompiledInstruction, DecodedMessage } from './decoded-message.ts'
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
  return { blockhash: recentBlockhash, nonceAccount: first === undefined ? null : advancedNonce(keys, first) }
}

/** Returns the nonce accounts that the instructions of a message advance if they succeed. */
export const advancedNonces = ({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  instructions.flatMap((each) => advancedNonce(keys, each) ?? [])

function advancedNonce(keys: DecodedMessage['keys'], instruction: CompiledInstruction): string | null {
  const data = Buffer.from(instruction.data)
  const isAdvance =
    keys[instruction.programIdIndex] === SYSTEM_PROGRAM && data.length >= 4 && data.readUInt32LE(0) === ADVANCE_NONCE
  const account = isAdvance ? instruction.accounts[0] : undefined
  return account === undefined ? null : (keys[account] ?? null)
}
