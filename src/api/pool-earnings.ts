/** What partner, creator and protocol have earned from a pool, by where it comes from. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, poolAddress } from './chain-scalars.ts'
import { FEE_CLAIM_KINDS } from './fee-claims.ts'
import { nullOr } from './scalars.ts'

export const EARNING_PARTIES = ['partner', 'creator', 'protocol', 'others'] as const

const earnedAmounts = z
  .object({
    accrued: digits.nullable().meta({ description: 'All that was ever earned' }),
    claimable: digits.nullable().meta({ description: 'What a claim would pay now' }),
    claimed: digits.nullable().meta({ description: 'What was paid out' }),
  })
  .openapi('EarnedAmounts')

const eachToken = {
  quote: nullOr(earnedAmounts).meta({ description: 'Raw units of the quote; null where none is ever paid' }),
  base: nullOr(earnedAmounts).meta({ description: 'Raw units of the base token; null where none is ever paid' }),
  lamports: nullOr(earnedAmounts).meta({ description: 'Lamports beside the quote: of a pool creation fee alone' }),
}

const earningSource = z
  .object({
    kind: z.enum(FEE_CLAIM_KINDS).meta({ description: 'What it is, and the kind that claims it' }),
    pool_address: poolAddress.meta({ description: 'The launch curve, or the pool that it migrated to' }),
    wallet: address.nullable().meta({ description: 'Who claims it; null for several, and for the protocol' }),
    ...eachToken,
    locked: digits.optional().meta({ description: '`vesting` alone: raw units of the base token not vested yet' }),
  })
  .openapi('EarningSource')

const partyEarnings = z
  .object({
    party: z.enum(EARNING_PARTIES).meta({
      description: '`others` are the positions of everybody else together, with what rounding has left',
    }),
    ...eachToken,
    sources: z.array(earningSource),
  })
  .openapi('PartyEarnings')

export const poolEarnings = z
  .object({
    pool_address: poolAddress,
    curve_address: address.nullable().meta({ description: 'The launch curve; null for a pool without one here' }),
    damm_v2_address: address.nullable().meta({ description: 'The pool after the migration; null before' }),
    base_mint: mintAddress,
    base_symbol: z.string().nullable(),
    base_decimals: z.int(),
    quote_mint: mintAddress,
    quote_decimals: z.int(),
    trading_fees: z.object({ quote: earnedAmounts, base: earnedAmounts }).nullable().meta({
      description: "The curve's trading fees of partner and creator together, which its counters always tell",
    }),
    positions_complete: z.boolean().meta({
      description: 'False where a wallet holds so many NFTs that not all were looked at',
    }),
    parties: z.array(partyEarnings),
  })
  .openapi('PoolEarnings')

export type EarnedAmountsRecord = z.output<typeof earnedAmounts>
export type EarningSource = z.output<typeof earningSource>
export type PartyEarnings = z.output<typeof partyEarnings>
export type PoolEarnings = z.output<typeof poolEarnings>
