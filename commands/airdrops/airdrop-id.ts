/** Reads mint and count from the id of an airdrop, without the API. */
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { usage } from '../ui/problem.ts'

/** Mint and count of an airdrop; its id is made of both. */
export async function parseAirdropId(id: string): Promise<{ mint: string; airdrop_count: number }> {
  const airdrop = decodeTreeId(id)
  if (airdrop === undefined)
    throw usage(`${id} is not the id of an airdrop`, { next: '`svc airdrops list` shows the ids' })
  // This import is dynamic because the module converts addresses, and help must not load base58.
  const { keyToBase58 } = await import('../../src/merkle/base58.ts')
  return { mint: keyToBase58(airdrop.mint), airdrop_count: airdrop.airdropCount }
}
