/** Builds the claim of one wallet, from the stored tree or from a given amount and proof. */

import type { Api } from '../../api/index.ts'
import type { DammV2Pool } from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import { AIRDROP_CLAIM_UNITS, buildAirdropClaim } from '../../chain/programs/merkle-distributor/index.ts'
import type { Context } from '../../context.ts'
import { ApiError, badRequest } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { poolsOfMint } from '../../store/resources/pools.ts'
import { unsignedAct } from '../act.ts'
import { type BuiltTransaction, buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { type ChainPool, readPools } from '../pools/on-chain.ts'
import { buildPoolSwap, minimumOutOf, POOL_SWAP_UNITS, quotePoolSwap } from '../pools/pool-swap.ts'
import { requestLeaf, requireClaim, storedLeaf } from './claimable-leaf.ts'

export const claimAirdrop = unsignedAct<Api['airdrops']['claim']>(async (context, input) => {
  const { id, claimer } = input
  const leaf = input.proof === undefined ? await storedLeaf(context, id, claimer) : requestLeaf(input, input.proof)
  const { claim, mint, amount } = await requireClaim(context, { id, claimer, leaf })
  return {
    payer: claimer,
    platformFee: input.platform_fee,
    fallbackUnits: AIRDROP_CLAIM_UNITS,
    build: (envelope) => buildAirdropClaim({ ...envelope, ...claim }),
    summary: async (built) => {
      const swap = input.swap_to_sol ? await swapToSol(context, { mint, amount, payer: claimer }, built) : null
      return { amount: String(amount), swap_transaction: swap === null ? null : unsignedAnswer(swap).transaction }
    },
    tracked: trackingOf('airdrop', id, ['airdrop.claimed']),
  }
})

/** The claim must be confirmed first and others trade meanwhile, so this exceeds the 100 of a plain swap. */
const CLAIMED_SWAP_SLIPPAGE_BPS = 300n

interface ClaimedSwap {
  mint: string
  /** Amount in raw units. */
  amount: bigint
  payer: string
}

/**
 * Returns the unsigned transaction. Throws bad_request when the token has no pool, or the pool cannot take the amount.
 */
async function swapToSol(
  context: Context,
  { mint, amount, payer }: ClaimedSwap,
  claim: BuiltTransaction,
): Promise<BuiltTransaction> {
  const { chain } = context
  if (mint === WRAPPED_SOL)
    throw swapRefusal('the airdrop pays wrapped SOL, which becomes SOL when its account is closed')
  const chainPool = await poolOfMint(context, mint)
  if (chainPool === null) {
    throw swapRefusal(`the token ${mint} has neither a launch curve nor a migrated pool on ${chain.cluster.label}`)
  }
  const order = { side: 'sell', amount } as const
  const quote = await quotePoolSwap(chain, chainPool, order).catch((error) => {
    if (error instanceof ApiError && error.code === 'bad_request') throw swapRefusal(error.message)
    throw error
  })
  const minimumOut = minimumOutOf(quote.estimatedOut, CLAIMED_SWAP_SLIPPAGE_BPS)
  return buildTransaction(context, {
    payer,
    fallbackUnits: POOL_SWAP_UNITS,
    follows: claim,
    build: (envelope) => buildPoolSwap(chainPool, { ...envelope, ...order, minimumOut }),
  })
}

const swapRefusal = (why: string) =>
  badRequest(`swap_to_sol: ${why}. Claim without swap_to_sol`, { param: 'swap_to_sol' })

/** Searches this service's own records first, then the pools that launch curves migrate to, then the curve itself. */
async function poolOfMint(context: Context, mint: string): Promise<ChainPool | null> {
  const { chain, store } = context
  const stored = await poolsOfMint(store.db, mint, await chain.genesisHash())
  return (
    (await findUsablePool(context, mint, stored)) ??
    (await findUsablePool(context, mint, await dbc.migratedCandidates(mint))) ??
    (await findUsablePool(context, mint, await dbc.findCurves(chain, mint)))
  )
}

/**
 * Returns the first pool that trades the token against SOL. A migrated curve is replaced by the pool that it became.
 */
async function findUsablePool(
  { chain }: Context,
  mint: string,
  addresses: readonly string[],
): Promise<ChainPool | null> {
  for (const chainPool of await readPools(chain, addresses)) {
    if (chainPool?.type === 'damm_v2' && tradesAgainstSol(chainPool.pool, mint)) return chainPool
    if (chainPool?.type !== 'dbc' || chainPool.pool.baseMint !== mint || chainPool.pool.quoteMint !== WRAPPED_SOL)
      continue
    if (!chainPool.pool.isMigrated) return chainPool
    const [next = null] = await readPools(chain, [await dbc.migratedPoolAddress(chainPool.pool)])
    if (next?.type === 'damm_v2' && tradesAgainstSol(next.pool, mint)) return next
  }
  return null
}

const tradesAgainstSol = ({ tokenAMint, tokenBMint }: DammV2Pool, mint: string) =>
  tokenAMint === mint && tokenBMint === WRAPPED_SOL
