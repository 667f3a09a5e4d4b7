/** Fields of Token-2022 extensions: what a token is created with, and what the authorities of a mint can set later. */
import { z } from '@hono/zod-openapi'
import { MAX_U64 } from '../solana/u64.ts'
import { address, u64Digits } from './chain-scalars.ts'
import { nullOr } from './scalars.ts'

/** Hundredths of a percent, from 0 to 100 %. */
const feeBasisPoints = z.int().min(0).max(10_000).meta({ description: 'Hundredths of a percent', example: 100 })
const maximumFee = u64Digits.default(String(MAX_U64)).meta({ description: 'Most raw units of one transfer' })
const rateBasisPoints = z
  .int()
  .min(-32_768)
  .max(32_767)
  .meta({ description: 'Hundredths of a percent a year', example: 500 })
const MULTIPLIER = 'must be a decimal number above 0, such as 1.5'
const multiplier = z
  .string()
  .regex(/^[0-9]{1,15}(\.[0-9]{1,15})?$/, { error: MULTIPLIER, abort: true })
  .refine((text) => /[1-9]/.test(text), MULTIPLIER)
  .meta({ description: 'Decimal number, stored as a double', example: '1.5' })

export const tokenExtensions = z
  .strictObject({
    transfer_fee: z.strictObject({ basis_points: feeBasisPoints, maximum_fee: maximumFee }).optional().meta({
      description:
        'Share of each transfer that stays in the receiving account, for the payer to withdraw. The payer can change it',
    }),
    interest_rate: z
      .strictObject({ basis_points: rateBasisPoints })
      .optional()
      .meta({ description: 'Wallets show amounts that grow at this rate; no token is minted' }),
    scaled_amount: z
      .strictObject({ multiplier })
      .optional()
      .meta({ description: 'Wallets show amounts times this number; not together with `interest_rate`' }),
    non_transferable: z.boolean().default(false).meta({ description: 'Whether holders can only burn it' }),
    default_frozen: z.boolean().default(false).meta({
      description:
        'Whether new token accounts are frozen until the freeze authority thaws them. `revoke_freeze_authority` must be false',
    }),
    permanent_delegate: address
      .optional()
      .meta({ description: 'Wallet that can move and burn the tokens of every holder' }),
    pausable: z.boolean().default(false).meta({ description: 'Whether the payer can pause every transfer' }),
    transfer_hook: z
      .strictObject({ program: address })
      .optional()
      .meta({ description: 'Program that every transfer calls, and that can refuse it' }),
    closable: z.boolean().default(false).meta({ description: 'Whether the payer can close the mint at a supply of 0' }),
  })
  .openapi('TokenExtensions', {
    description:
      'Extensions of a Token-2022 mint, which can only be chosen at its creation. The payer gets their authorities',
  })

export type TokenExtensions = z.output<typeof tokenExtensions>

/** What the authority of an extension can set later; an extension itself can never be added. */
export const extensionUpdateFields = {
  transfer_fee: z
    .strictObject({ basis_points: feeBasisPoints, maximum_fee: maximumFee })
    .optional()
    .meta({ description: 'In force two epochs later' }),
  interest_rate: z.strictObject({ basis_points: rateBasisPoints }).optional(),
  scaled_amount: z
    .strictObject({
      multiplier,
      effective_at: z.iso
        .datetime({ offset: true })
        .optional()
        .meta({ description: 'When it comes into force; at once without it', example: '2030-01-01T00:00:00Z' }),
    })
    .optional(),
  default_frozen: z
    .boolean()
    .optional()
    .meta({ description: 'Whether new token accounts are frozen; the freeze authority signs' }),
  transfer_hook: z
    .strictObject({ program: nullOr(address).meta({ description: 'Null calls no program any more' }) })
    .optional(),
}
