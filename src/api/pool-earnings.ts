/** What partner, creator and protocol have earned from a pool, by source. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress, poolAddress } from './chain-scalars.ts'
import { FEE_CLAIM_KINDS } from './fee-claims.ts'
import { nullOr } from './scalars.ts'

const EARNING_PARTIES = ['partner', 'creator', 'protocol', 'others'] as const

const earnedAmounts = z
  .object({
    accrued: digits.nullable().meta({ description: 'Everything earned so far' }),
    claimable: digits.nullable().meta({ description: 'What a claim would pay now' }),
    claimed: digits.nullable().meta({ description: 'What has been paid out' }),
  })
  .openapi('EarnedAmounts')

const eachToken = {
  quote: nullOr(earnedAmounts).meta({ description: 'Raw units of the quote; null if it is never paid in the quote' }),
  base: nullOr(earnedAmounts).meta({
    description: 'Raw units of the base token; null if it is never paid in the base token',
  }),
  lamports: nullOr(earnedAmounts).meta({
    description: 'Lamports in addition to the quote; only for a pool creation fee',
  }),
}

const earningSource = z
  .object({
    kind: z.enum(FEE_CLAIM_KINDS).meta({ description: 'Source of the earnings, and the kind that claims them' }),
    pool_address: poolAddress.meta({ description: 'The launch curve, or the pool that it migrated to' }),
    wallet: address
      .nullable()
      .meta({ description: 'Wallet that claims it; null for several wallets, and for the protocol' }),
    ...eachToken,
    locked: digits.optional().meta({ description: '`vesting` only: raw units of the base token not vested yet' }),
  })
  .openapi('EarningSource')

const partyEarnings = z
  .object({
    party: z.enum(EARNING_PARTIES).meta({
      description: '`others` are all other positions together, including rounding remainders',
    }),
    ...eachToken,
    sources: z.array(earningSource),
  })
  .openapi('PartyEarnings')

export const poolEarnings = z
  .object({
    pool_address: poolAddress,
    curve_address: address.nullable().meta({ description: 'The launch curve; null if none is known for this pool' }),
    damm_v2_address: address.nullable().meta({ description: 'The pool after the migration; null before' }),
    base_mint: mintAddress,
    base_symbol: z.string().nullable(),
    base_decimals: z.int(),
    quote_mint: mintAddress,
    quote_decimals: z.int(),
    trading_fees: z.object({ quote: earnedAmounts, base: earnedAmounts }).nullable().meta({
      description: "The curve's trading fees of partner and creator together; its counters always have this sum",
    }),
    positions_complete: z.boolean().meta({
      description: 'False if a wallet holds too many NFTs to examine all of them',
    }),
    parties: z.array(partyEarnings),
  })
  .openapi('PoolEarnings')

export type EarnedAmountsRecord = z.output<typeof earnedAmounts>
export type EarningSource = z.output<typeof earningSource>
export type PartyEarnings = z.output<typeof partyEarnings>
export type PoolEarnings = z.output<typeof poolEarnings>
