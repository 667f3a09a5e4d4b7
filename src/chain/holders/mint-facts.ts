/**
 * Reads at `finalized` the supply of a mint, or the number of assets of a collection, which its accounts must add up
 * to.
 */
import { badRequest, notFound } from '../../platform/errors.ts'
import { TOKEN_2022_PROGRAM } from '../../solana/program-ids.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import { hasTokenLayout, readMint } from '../../solana/token-accounts.ts'
import { hiddenAmounts, withheldInMint } from '../../solana/token-extensions.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'

export interface MintFacts {
  slot: number
  program: string
  decimals: number
  supply: bigint
  /** Raw units of transfer fees in the mint itself. */
  withheld: bigint
  hidden: 'none' | 'balances' | 'supply'
}

export interface CollectionFacts {
  slot: number
  /** Number of assets that exist now. */
  size: bigint
}

/** Throws not_found without a mint, internal_error when the node fails or has not reached `minSlot`. */
export async function readMintFacts(chain: NodeCalls, mint: string, minSlot: number): Promise<MintFacts> {
  const { slot, owner, data } = await readFinalized(chain, mint, minSlot)
  const account = { owner, data, lamports: 0n, executable: false }
  const state = owner !== '' && hasTokenLayout(account, 'mint') ? readMint(account) : null
  if (state === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  const isToken2022 = owner === TOKEN_2022_PROGRAM
  return {
    slot,
    program: owner,
    decimals: state.decimals,
    supply: state.supply,
    withheld: isToken2022 ? withheldInMint(data) : 0n,
    hidden: isToken2022 ? hiddenAmounts(data) : 'none',
  }
}

/** Throws not_found without a collection. */
export async function readCollectionFacts(
  chain: NodeCalls,
  collection: string,
  minSlot: number,
): Promise<CollectionFacts> {
  const { slot, ...account } = await readFinalized(chain, collection, minSlot)
  if (!METAPLEX_CORE.is('collection', account)) {
    throw notFound(`There is no collection at ${collection}`, { param: 'collection' })
  }
  const fields = METAPLEX_CORE.decode('collection', account)
  if (fields !== null) return { slot, size: BigInt(fields.current_size) }
  throw badRequest(`The collection ${collection} has parts that this version cannot read: upgrade svc`, {
    param: 'collection',
  })
}

/** An account without an owner does not exist. */
async function readFinalized(
  chain: NodeCalls,
  address: string,
  minSlot: number,
): Promise<{ slot: number; owner: string; data: Buffer }> {
  return askNode('Reading an account', async () => {
    const options = { encoding: 'base64', commitment: 'finalized', minContextSlot: minSlot }
    const result = await chain.call<unknown>('getAccountInfo', [address, options])
    const { slot, value } = atSlot<{ owner?: unknown; data?: unknown } | null>(
      result,
      (shown) => shown === null || typeof shown === 'object',
    )
    if (value === null) return { slot, owner: '', data: Buffer.alloc(0) }
    const { owner, data } = value
    if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string' || slot < minSlot) {
      throw new Error('its answer is incomplete')
    }
    return { slot, owner, data: Buffer.from(data[0], 'base64') }
  })
}
