/** Names of addresses in what a person reads before a signature: the own wallet, and the symbols of mints. */
import { type AddressNames, mintsIn, nameOf } from '../../src/solana/described-instructions.ts'
import type { Session } from '../cli/session.ts'
import { fetchSymbols } from '../ui/mint-symbols.ts'
import type { DescribedContent } from './wallet.ts'

/**
 * Adds to the known names, and changes none. The creator of a mint chooses its symbol, so it is quoted. What the API
 * cannot name in time stays without a name.
 */
export async function addressNames(
  { client, wallet }: Pick<Session, 'client' | 'wallet'>,
  { instructions }: Pick<DescribedContent, 'instructions'>,
  known: AddressNames = new Map(),
): Promise<AddressNames> {
  const names = new Map(known)
  const own = await wallet.address().catch(() => null)
  if (own !== null) names.set(own, names.has(own) ? `${names.get(own)}, you` : 'you')
  const unnamed = mintsIn(instructions).filter((mint) => nameOf(mint, names) === null)
  const symbols = await fetchSymbols(unnamed, (mints) => client.tokens.batchFetch({ mints }))
  for (const [mint, symbol] of symbols) names.set(mint, JSON.stringify(symbol))
  return names
}
