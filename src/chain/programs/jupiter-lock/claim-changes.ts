/** Reads which vested tokens a transaction claims from locks, by its own instructions. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { LOCK_INSTRUCTIONS } from './program.ts'

/** `claimer` signs and is the lock's recipient. `mint` is null if the instruction does not name it. */
export interface VestingClaimChange {
  kind: 'vesting'
  escrow: string
  claimer: string
  mint: string | null
}

/** First bytes of the older instruction `claim`, which other clients may still send. */
const CLAIM_V1 = '3ec6d6c1d59f6cd2'
/** First bytes of the call by which the program emits its event of a claim; the amount follows. */
const CLAIMED_EVENT = 'e445a52e51cb9a1dab9001bd78c8260b'

/**
 * Returns claims in the order of the instructions, without those that paid nothing according to the chain, for example
 * before the first tokens are vested. A claim is left out if it names an account from a lookup table that was not
 * read.
 */
export function vestingClaimsIn({ keys, instructions }: DecodedMessage): VestingClaimChange[] {
  const own = instructions.filter(({ programIdIndex }) => keys[programIdIndex] === PROGRAMS.lock.id)
  return own.flatMap(({ accounts, data }, i): VestingClaimChange[] => {
    const name = Buffer.from(data.subarray(0, 8)).toString('hex')
    const at = (index: number) => keys[accounts[index] ?? -1]
    const isV2 = name === LOCK_INSTRUCTIONS.claim
    if (!isV2 && name !== CLAIM_V1) return []
    const [escrow, claimer, mint] = isV2 ? [at(0), at(3), at(1)] : [at(0), at(2), null]
    if (escrow === undefined || claimer === undefined || mint === undefined) return []
    const event = Buffer.from(own[i + 1]?.data ?? [])
    const isEvent = event.length >= 24 && event.toString('hex', 0, 16) === CLAIMED_EVENT
    return isEvent && event.readBigUInt64LE(16) === 0n ? [] : [{ kind: 'vesting', escrow, claimer, mint }]
  })
}
