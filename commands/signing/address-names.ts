/** Names of addresses in what a person reads before a signature: the own wallet, and the symbols of mints. */
import { ApiError } from '../../src/platform/errors.ts'
import { type AddressNames, mintsIn } from '../../src/solana/described-instructions.ts'
import type { Session } from '../cli/session.ts'
import type { DescribedContent } from './wallet.ts'

/** Most mints that the API names at once. */
const MOST_MINTS = 100

/**
 * Adds to the known names. The creator of a mint chooses its symbol, so it is quoted. What the API cannot name stays
 * without a name.
 */
export async function addressNames(
  { client, wallet }: Pick<Session, 'client' | 'wallet'>,
  { instructions }: Pick<DescribedContent, 'instructions'>,
  known: AddressNames = new Map(),
): Promise<AddressNames> {
  const names = new Map(known)
  const own = await wallet.address().catch(() => null)
  if (own !== null) names.set(own, names.has(own) ? `${names.get(own)}, you` : 'you')
  const mints = mintsIn(instructions).slice(0, MOST_MINTS)
  if (mints.length === 0) return names
  try {
    const { tokens } = (await client.tokens.batchFetch({ mints })).data
    for (const token of tokens) if (token?.symbol) names.set(token.mint, `"${token.symbol}"`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
  return names
}
