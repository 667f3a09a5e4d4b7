/** Trades of a pool, read from the history of its account. */
import { z } from '@hono/zod-openapi'
import { address, digits, poolAddress, signatureText } from './chain-scalars.ts'
import { timestamp } from './scalars.ts'

export const poolTrade = z
  .object({
    pool_address: poolAddress,
    signature: signatureText,
    slot: z.int().min(0),
    traded_at: timestamp.nullable().meta({ description: 'Time of the block; null if the node does not know it' }),
    trader: address.nullable().meta({ description: 'Wallet that signs the trade; null if the call does not name it' }),
    side: z.enum(['buy', 'sell']),
    amount_in: digits.meta({
      description: 'Paid, fees included, in raw units: of the quote for a buy, of the token for a sell',
    }),
    decimals_in: z.int().min(0).max(255).meta({ description: 'Decimals of what is paid' }),
    amount_out: digits.meta({ description: 'Received in raw units' }),
    decimals_out: z.int().min(0).max(255).meta({ description: 'Decimals of what is received' }),
    price: z
      .string()
      .meta({ description: 'Whole tokens of the quote for one whole token after the trade, decimal text' }),
  })
  .openapi('PoolTrade')

export type PoolTrade = z.output<typeof poolTrade>
