/** Transfers positions of a DAMM v2 pool to another wallet, together with the fees that they have not paid out yet. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits, mintAddress, otherWallet, poolAddress } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { proposed, trackedResource, unsignedPayload } from './payloads.ts'

export const poolPositionTransfer = z
  .object({
    pool_address: poolAddress,
    owner: address.meta({ description: 'The holder until now, who signs' }),
    new_owner: otherWallet,
    positions: z
      .array(
        z.object({
          position: address,
          nft_mint: mintAddress.meta({ description: 'Mint of the NFT that is sent' }),
          liquidity: digits,
        }),
      )
      .meta({ description: 'Positions that the transaction sends, the largest first' }),
    remaining_positions: z.int().min(0).meta({ description: 'Positions that did not fit: send the request again' }),
    tx: unsignedPayload({}),
    tracked_resource: trackedResource.optional(),
    proposal: proposed,
  })
  .openapi('PoolPositionTransfer')

export type PoolPositionTransfer = z.output<typeof poolPositionTransfer>

export const positionTransferBody = buildBody({
  payer: address.meta({ description: 'Wallet that holds the positions and pays the fee' }),
  new_owner: otherWallet,
  position: address.optional().meta({ description: 'Sends only this position; by default all that the payer holds' }),
  allow_programs: allowProgramsField,
})
