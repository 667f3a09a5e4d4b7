/** Program-derived addresses: the supported kinds and their inputs. */

import { z } from '@hono/zod-openapi'
import { WRAPPED_SOL } from '../solana/program-ids.ts'
import { address, airdropCount, MINT_EXAMPLE, mintAddress, tokenProgramName, WALLET_EXAMPLE } from './chain-scalars.ts'
import { writeBody } from './envelope.ts'
import { anyRecord } from './metadata.ts'
import { defineRoute, type Tag } from './route.ts'

export const PDA_KINDS = [
  'ata',
  'metadata',
  'dbc_pool',
  'damm_v2_pool',
  'merkle_distributor',
  'claim_status',
  'gold_lock',
] as const
export type PdaKind = (typeof PDA_KINDS)[number]

const quoteMint = address.default(WRAPPED_SOL)

/** The named inputs of each kind. */
export const PDA_ARGS = {
  ata: z.strictObject({ owner: address, mint: mintAddress, token_program: tokenProgramName }),
  metadata: z.strictObject({ mint: mintAddress }),
  dbc_pool: z.strictObject({ base_mint: mintAddress, quote_mint: quoteMint, config: address }),
  damm_v2_pool: z.strictObject({ config: address, base_mint: mintAddress, quote_mint: quoteMint }),
  merkle_distributor: z.strictObject({ mint: mintAddress, airdrop_count: airdropCount }),
  claim_status: z.strictObject({ mint: mintAddress, airdrop_count: airdropCount, claimer: address }),
  gold_lock: z.strictObject({ user: address }),
} as const satisfies Record<PdaKind, z.ZodObject>

/**
 * Kind and args together: parsing them gives paths such as `args.mint`, which the body's schema alone cannot provide.
 */
export const pdaRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ata'), args: PDA_ARGS.ata }),
  z.object({ kind: z.literal('metadata'), args: PDA_ARGS.metadata }),
  z.object({ kind: z.literal('dbc_pool'), args: PDA_ARGS.dbc_pool }),
  z.object({ kind: z.literal('damm_v2_pool'), args: PDA_ARGS.damm_v2_pool }),
  z.object({ kind: z.literal('merkle_distributor'), args: PDA_ARGS.merkle_distributor }),
  z.object({ kind: z.literal('claim_status'), args: PDA_ARGS.claim_status }),
  z.object({ kind: z.literal('gold_lock'), args: PDA_ARGS.gold_lock }),
])

export const pda = z
  .object({
    kind: z.enum(PDA_KINDS),
    address,
    bump: z.int().min(0).max(255),
    program_id: address,
  })
  .openapi('Pda')

export type PdaRequest = z.output<typeof pdaRequest>
export type Pda = z.output<typeof pda>

const ARGS_BY_KIND = Object.entries(PDA_ARGS)
  .map(([kind, schema]) => `\`${kind}\`: ${Object.keys(schema.shape).join(', ')}`)
  .join('; ')

const PDAS_TAG: Tag = { name: 'PDAs', description: 'Addresses that programs derive, computed without the chain.' }

export const pdas = {
  derive: defineRoute({
    at: ['post', '/v2/pdas/{kind}'],
    tag: PDAS_TAG,
    summary: 'Derive an address',
    description: `Args by kind: ${ARGS_BY_KIND}. \`quote_mint\` is wrapped SOL and \`token_program\` is \`spl\` by default.`,
    params: z.object({ kind: z.enum(PDA_KINDS) }),
    body: writeBody({
      args: anyRecord.meta({
        description: 'Named inputs of the kind',
        example: { owner: WALLET_EXAMPLE, mint: MINT_EXAMPLE },
      }),
    }),
    data: pda,
  }),
}
