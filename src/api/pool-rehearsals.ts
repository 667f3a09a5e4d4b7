/** The report of a launch that was rehearsed on a copy of the cluster. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress } from './chain-scalars.ts'
import { BENEFICIARIES, FEE_CLAIM_KINDS } from './fee-claims.ts'

const REHEARSAL_STAGES = ['launch', 'fill', 'migration', 'trade', 'claim'] as const
export const REHEARSAL_ROLES = [
  'creator',
  'payer',
  'partner',
  'platform',
  'buyer',
  'keeper',
  'protocol',
  'relay',
  'curve',
  'pool',
  'vesting',
  'accounts',
  'network',
  'others',
  'supply',
] as const

const signedDigits = z
  .string()
  .regex(/^-?[0-9]+$/)
  .meta({ description: 'Change in raw units, as digits, with a minus for a decrease', example: '-5000' })

const rehearsalStep = z.object({
  stage: z.enum(REHEARSAL_STAGES),
  label: z.string().meta({ description: 'What the transaction does', example: 'creator claims surplus' }),
  claim: z
    .object({ kind: z.enum(FEE_CLAIM_KINDS), beneficiary: z.enum(BENEFICIARIES) })
    .nullable()
    .meta({ description: 'What is claimed and for whom; null if the step is not a claim' }),
  payer: address.nullable().meta({ description: 'Wallet that pays for it; null if no transaction was built' }),
  status: z
    .enum(['done', 'skipped', 'failed'])
    .meta({ description: '`skipped`: there was nothing to do, and `reason` says why' }),
  bytes: z.int().nullable().meta({ description: 'Size of the transaction' }),
  compute_units: z.int().nullable(),
  fee: digits.nullable().meta({ description: 'Network fee in lamports, including the priority fee' }),
  reason: z.string().nullable(),
  hint: z.string().nullable().meta({ description: 'What to do about it, if known' }),
})

const rehearsalBook = z.object({
  party: z.enum(REHEARSAL_ROLES).meta({
    description:
      '`keeper` migrates the pool if the platform wallet does not. `curve` and `pool` are the vaults of the curve and of the migrated pool. `vesting` is what is locked for later. `accounts` is rent and whatever else is in accounts of programs. `network` is fees. `supply` is what was minted',
  }),
  roles: z.array(z.enum(REHEARSAL_ROLES)).meta({ description: 'All of the roles of its address' }),
  address: address.nullable(),
  sol: signedDigits.meta({ description: 'Change in lamports, wrapped SOL included' }),
  quote: signedDigits.nullable().meta({ description: 'Change in the quote token; null if the quote is SOL' }),
  base: signedDigits.meta({ description: 'Change in the launched token' }),
})

const rehearsedToken = z.object({ mint: mintAddress, decimals: z.int() })

export const poolRehearsal = z
  .object({
    cluster: z.string().meta({ description: 'The cluster that was copied' }),
    copied_slots: z
      .object({ oldest: z.int(), newest: z.int() })
      .meta({ description: 'First and last slot at which its accounts were read' }),
    type: z.enum(['dbc', 'damm_v2']),
    name: z.string(),
    symbol: z.string(),
    preset: z.string(),
    creator: address,
    succeeded: z.boolean().meta({ description: 'True if no step failed' }),
    steps: z.array(rehearsalStep),
    cost: z
      .object({
        total: digits.meta({ description: 'Lamports that creator and payer pay for the launch' }),
        network_fees: digits,
        tip: digits,
        first_buy: digits.meta({ description: 'What the first buy pays, in raw units of the quote' }),
        rent: digits.meta({ description: 'Rent, and program fees that stay in accounts' }),
        rent_returning: digits.meta({
          description: 'Part of the rent that returns when the creator empties and closes its token accounts',
        }),
      })
      .meta({ description: 'The launch only, without the later steps' }),
    quote: rehearsedToken,
    base: rehearsedToken,
    books: z
      .array(rehearsalBook)
      .meta({ description: 'Change of each party’s balances after all steps; each column adds up to zero' }),
  })
  .openapi('PoolRehearsal')

export type PoolRehearsal = z.output<typeof poolRehearsal>
export type RehearsalStep = PoolRehearsal['steps'][number]
export type RehearsalBook = PoolRehearsal['books'][number]
export type RehearsalRole = (typeof REHEARSAL_ROLES)[number]
