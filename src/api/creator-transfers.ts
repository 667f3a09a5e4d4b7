/** Transfers the role of a pool's creator, together with what the creator has not claimed yet. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits, mintAddress, otherWallet, poolAddress } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { proposed, trackedResource, unsignedPayload } from './payloads.ts'

export const poolCreatorTransfer = z
  .object({
    pool_address: poolAddress,
    creator: address.meta({ description: 'The current creator, who signs' }),
    new_creator: otherWallet,
    unclaimed_quote: digits.meta({
      description: 'Trading fees, surplus and migration fee that move with the role, in raw units of the quote',
    }),
    unclaimed_base: digits.meta({
      description: 'Trading fees that move with the role, in raw units of the pool’s token',
    }),
    quote_mint: mintAddress,
    quote_decimals: z.int().min(0).max(255),
    base_mint: mintAddress,
    base_decimals: z.int().min(0).max(255),
    tx: unsignedPayload({}),
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('PoolCreatorTransfer')

export type PoolCreatorTransfer = z.output<typeof poolCreatorTransfer>

export const creatorTransferBody = buildBody({
  payer: address,
  new_creator: otherWallet,
  allow_programs: allowProgramsField,
})
