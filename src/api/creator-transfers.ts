/** Transfers the role of a pool's creator, together with what the creator has not claimed yet. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits, mintAddress, otherWallet, poolAddress } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { trackedResource, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'

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
  })
  .openapi('PoolCreatorTransfer')

export type PoolCreatorTransfer = z.output<typeof poolCreatorTransfer>

export const transferCreatorRoute = defineRoute({
  at: ['post', '/v2/pools/{address}/creator-transfers'],
  tag: 'Pools',
  summary: "Transfer the role of a pool's creator",
  description:
    'The new creator can claim what the old one has not claimed yet, and everything that the pool earns its creator from now on. Vested tokens and the positions of the migrated pool stay with their present wallets. A transfer is not possible between the end of the curve and its migration.',
  params: z.object({ address: poolAddress }),
  body: buildBody({ payer: address, new_creator: otherWallet, allow_programs: allowProgramsField }),
  data: poolCreatorTransfer,
  signed: 'refused',
})
