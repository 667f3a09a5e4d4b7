/** Recognizes the payment of a request on chain: a transaction with all calls of one that was built for it. */
import { hash } from 'node:crypto'
import type { TrackedResource } from '../../api/payloads.ts'
import type { CompiledInstruction, DecodedMessage } from '../../solana/decoded-message.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../../solana/program-ids.ts'

/** A transaction that a wallet has fetched and that may still land. */
export interface RecentBuild {
  account: string
  /** Its calls in order, each as the beginning of a hash; limits and priority fee are left out. */
  calls: readonly string[]
  tracked_resource: TrackedResource | null
  /** Unix milliseconds. */
  built_at: number
}

/** Characters of a call's hash, 128 bits. */
const CALL_LENGTH = 32

/** `message.keys` has the accounts of lookup tables behind its own. */
export const callsIn = ({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  instructions
    .filter(({ programIdIndex }) => keys[programIdIndex] !== COMPUTE_BUDGET_PROGRAM)
    .map((instruction) => callOf(keys, instruction))

function callOf(keys: readonly string[], { programIdIndex, accounts, data }: CompiledInstruction): string {
  const named = [programIdIndex, ...accounts].map((place) => keys[place])
  const text = JSON.stringify([named, Buffer.from(data).toString('base64')])
  return hash('sha256', text, 'hex').slice(0, CALL_LENGTH)
}

/**
 * Returns the newest build whose calls the transaction makes, in their order and for the same fee payer. Wallets set
 * the priority fee and the blockhash, and may add calls that protect their user.
 */
export function paidBuild(
  builds: readonly RecentBuild[],
  message: Pick<DecodedMessage, 'keys' | 'instructions'>,
): RecentBuild | undefined {
  const calls = callsIn(message)
  return builds.findLast(({ account, calls: wanted }) => message.keys[0] === account && isWithin(wanted, calls))
}

/** Whether all of `wanted` are in `calls`, in this order. */
function isWithin(wanted: readonly string[], calls: readonly string[]): boolean {
  let found = 0
  for (const call of calls) if (call === wanted[found]) found++
  return found === wanted.length
}
