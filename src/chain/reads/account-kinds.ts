/** Reads who owns many accounts, without their data: a hundred accounts a call, several calls at once. */
import { isAddress } from '../../solana/addresses.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { type AccountKind, START_BYTES, startOf } from '../../solana/recipients.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'

/** Number of simultaneous calls of one hundred accounts. */
const CALLS_AT_ONCE = 8

interface ReadingTerms {
  commitment: 'confirmed' | 'finalized'
  /** Slot that the node must have reached. */
  minContextSlot?: number
}

/**
 * Passes each account with the index of its address; null without an account. Throws internal_error when the node
 * fails.
 */
export async function readAccountKinds(
  chain: NodeCalls,
  addresses: readonly string[],
  terms: ReadingTerms,
  use: (account: AccountKind | null, place: number) => void,
): Promise<void> {
  let next = 0
  const readSome = async () => {
    for (let from = next; from < addresses.length; from = next) {
      next += ACCOUNTS_PER_CALL
      const accounts = await readPart(chain, addresses.slice(from, from + ACCOUNTS_PER_CALL), terms)
      for (const [i, account] of accounts.entries()) use(account, from + i)
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, readSome))
}

function readPart(
  chain: NodeCalls,
  addresses: readonly string[],
  terms: ReadingTerms,
): Promise<(AccountKind | null)[]> {
  const options = { encoding: 'base64', dataSlice: { offset: 0, length: START_BYTES }, ...terms }
  return askNode('Reading the owners of accounts', async () => {
    const result = await chain.call<unknown>('getMultipleAccounts', [addresses, options])
    const { value } = atSlot<unknown[]>(result, (shown) => Array.isArray(shown) && shown.length === addresses.length)
    return value.map((shown) => {
      if (shown === null) return null
      const { owner, executable, data } = (shown ?? {}) as Record<string, unknown>
      const text = Array.isArray(data) ? data[0] : undefined
      if (
        typeof owner !== 'string' ||
        !isAddress(owner) ||
        typeof executable !== 'boolean' ||
        typeof text !== 'string'
      ) {
        throw new Error('its answer is incomplete')
      }
      return { owner, executable, start: startOf(Buffer.from(text, 'base64')) }
    })
  })
}
