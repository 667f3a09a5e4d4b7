/** Rent reclaims: lamports that token accounts and mints of a wallet hold beyond today's rent minimum. */
import { z } from '@hono/zod-openapi'
import { ACCOUNTS_TAG } from './accounts.ts'
import { address, digits, mintAddress } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'

/** Reasons why lamports stay in an account. */
const RECLAIM_FAULTS = [
  'wrapped_sol',
  'close_authority',
  'frozen',
  'withheld_fees',
  'confidential',
  'not_associated',
  'pending',
  'refused',
] as const
export type ReclaimFault = (typeof RECLAIM_FAULTS)[number]

const count = z.int().min(0)

const reclaimedAccount = z.object({
  address,
  token_program: z.enum(['spl', 'token2022']),
  kind: z.enum(['token_account', 'mint']),
  mint: mintAddress,
  action: z
    .enum(['withdraw', 'close'])
    .meta({ description: '`close` returns everything, and only an empty one is closed' }),
  lamports: digits.meta({ description: 'Lamports that return' }),
  minimum: digits.meta({ description: 'Lamports that an account of this size must keep today' }),
})

const leftOut = z.object({
  reason: z.enum(RECLAIM_FAULTS),
  accounts: count,
  lamports: digits.meta({ description: 'Lamports that stay in them for this reason' }),
})

const reclaimShape = {
  accounts: z.array(reclaimedAccount).meta({ description: 'Those of this transaction; the most lamports come first' }),
  lamports: digits.meta({ description: 'Lamports that this transaction returns, before its fee' }),
  fee: digits.meta({ description: 'Lamports that this transaction costs' }),
  remaining: z
    .object({ accounts: count, lamports: digits, transactions: count })
    .meta({ description: 'What further requests return, once this transaction is confirmed' }),
  left_out: z.array(leftOut),
  mints_listed: z.boolean().meta({
    description:
      'False if the node does not list mints by their authority; then only tokens that are recorded here are looked at',
  }),
  truncated: z.boolean().meta({ description: 'Whether the wallet has more accounts than were read' }),
}

const rentReclaim = z
  .discriminatedUnion('mode', [unsignedPayload(reclaimShape), signedPayload(reclaimShape)])
  .openapi('RentReclaim')
export type RentReclaim = z.output<typeof rentReclaim>

export const rentReclaims = {
  create: defineRoute({
    at: ['post', '/v2/rent-reclaims'],
    tag: ACCOUNTS_TAG,
    summary: 'Build one transaction that returns excess rent to a wallet',
    description:
      'Reads every token account of the wallet, and every mint whose mint authority it is, of both token programs, and takes as many as one transaction has room for. Accounts in a transaction that is not confirmed yet are left out. Refused with `details.reason` `nothing_to_reclaim` if nothing is left, and `below_cost` if what returns is not more than the fee. With `mode: signed` the platform wallet reclaims its own, whatever `payer` says.',
    body: buildBody({
      payer: address.meta({ description: 'Wallet that owns the accounts, signs, pays the fee and receives' }),
      close_empty: z.boolean().default(false).meta({
        description: 'Whether empty associated token accounts, and empty accounts of wrapped SOL, are closed',
      }),
    }),
    data: rentReclaim,
    signed: '*',
    payable: 'payer',
    says: () => 'Return excess rent',
  }),
}
