/** Parts that the plans of all claim kinds share: the mints in their answers, and the refusals. */

import { type DbcPool, quoteAccountAddress } from '../../chain/programs/dbc/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { refusalsOf } from '../refusals.ts'
import type { FeeClaimPlan } from './types.ts'

type ClaimedMints = Pick<FeeClaimPlan, 'pool_address' | 'quote_mint' | 'quote_decimals' | 'base_mint' | 'base_decimals'>

export const curveMints = (pool: DbcPool): ClaimedMints => ({
  pool_address: pool.address,
  quote_mint: pool.quoteMint,
  quote_decimals: pool.quoteDecimals,
  base_mint: pool.baseMint,
  base_decimals: pool.decimals,
})

/** Values of `details.reason` for a claim that would pay nothing now. */
export const EMPTY_CLAIM_REASONS: readonly unknown[] = ['nothing_to_claim', 'withdrawn', 'too_early']

/** `details.reason` of this and the next two errors lets a client that processes many pools see that nothing failed. */
export const nothingToClaim = (address: string, why = ''): ApiError =>
  badRequest(`There is nothing to claim from ${address}${why}`, {
    param: 'address',
    details: { reason: 'nothing_to_claim' },
  })

/** The claim can be paid only once, and was. */
export const withdrawnAlready = (what: string): ApiError =>
  badRequest(`${what} was already withdrawn`, { param: 'kind', details: { reason: 'withdrawn' } })

/** The claim is paid only after a later event, which the message names. */
export const tooEarly = (message: string): ApiError =>
  badRequest(message, { param: 'kind', details: { reason: 'too_early' } })

/** Reports what the programs that pay claims refuse. */
export const throwClaimRefusal = refusalsOf(PROGRAMS.dbc.name, PROGRAMS.dammV2.name, PROGRAMS.lock.name)

/** A claim of SOL goes through the claimer's own wrapped account. */
export async function requireWrappedRent(
  context: Pick<Context, 'chain'>,
  { pool, claimer, payer }: { pool: DbcPool; claimer: string; payer: string },
): Promise<void> {
  if (payer === claimer || pool.quoteMint !== WRAPPED_SOL) return
  await requireClaimerRent(context, claimer, [await quoteAccountAddress(pool, claimer)])
}

/**
 * The claimer pays for these accounts even if another wallet pays for the transaction, because it can reclaim their
 * rent.
 */
export async function requireClaimerRent(
  { chain }: Pick<Context, 'chain'>,
  claimer: string,
  accountsToOpen: readonly string[],
): Promise<void> {
  const [wallet, ...accounts] = await accountsAt(chain, [claimer, ...accountsToOpen])
  const missing = BigInt(accounts.filter((account) => account === null).length)
  const needed = missing === 0n ? 0n : missing * (await rentFor(chain, TOKEN_ACCOUNT_SIZE))
  const lamports = wallet?.lamports ?? 0n
  if (lamports >= needed) return
  throw badRequest(
    `The claimer ${claimer} has ${solText(lamports)}, and needs ${solText(needed)} to open its token accounts: send it ${solText(needed - lamports)} first`,
    { param: 'payer', details: { claimer, lamports: String(lamports), needed: String(needed) } },
  )
}
