/** Determines how long a transaction can land: until its blockhash expires, or until its durable nonce advances. */

import type { CompiledInstruction, DecodedMessage } from './decoded-message.ts'
import { SYSTEM } from './programs/system.ts'

/** A blockhash is valid for 150 blocks: a minute, and up to two on a slow chain. */
export const BLOCKHASH_LIFE_MS = 120_000

/** Blockhash or nonce value of a transaction; `nonceAccount` is null when it does not use a durable nonce. */
type Lifetime = { blockhash: string; nonceAccount: string | null }

/** Returns the lifetime of a transaction. It uses a durable nonce if its first instruction advances one. */
export function lifetimeOf({ keys, instructions, recentBlockhash }: DecodedMessage): Lifetime {
  const [first] = instructions
  return { blockhash: recentBlockhash, nonceAccount: first === undefined ? null : advancedNonce(keys, first) }
}

/** Returns the nonce accounts that the instructions of a message advance if they succeed. */
export const advancedNonces = ({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  instructions.flatMap((each) => advancedNonce(keys, each) ?? [])

function advancedNonce(keys: DecodedMessage['keys'], { programIdIndex, accounts, data }: CompiledInstruction) {
  const addresses = Array.from(accounts, (index) => keys[index])
  const call = SYSTEM.callOf(keys[programIdIndex], addresses, data)
  return call?.name === 'advanceNonce' ? (call.accounts.nonceAccount ?? null) : null
}
