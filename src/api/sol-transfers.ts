/** SOL transfers: lamports from one wallet to another. */
import { z } from '@hono/zod-openapi'
import { solText } from '../solana/amounts.ts'
import { ADDRESS_FAULTS } from '../solana/bare-addresses.ts'
import { ACCOUNTS_TAG } from './accounts.ts'
import { address, allowProgramsField, digits, isU64, otherWallet } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'

/** Reasons against sending SOL to an address. */
const SOL_RECIPIENT_FAULTS = ['sender', ...ADDRESS_FAULTS] as const
export type SolRecipientFault = (typeof SOL_RECIPIENT_FAULTS)[number]

const lamports = z
  .string()
  .refine((text) => text === 'all' || (isU64(text) && /[1-9]/.test(text)), 'must be more than 0, as digits, or all')
  .meta({ description: 'Lamports as digits; `all` sends everything except the fee', example: '1500000000' })

const solTransfer = unsignedPayload({
  recipient: otherWallet,
  lamports: digits.meta({ description: 'Lamports that are sent' }),
  fee: digits.meta({ description: 'Lamports that the payer pays for the transaction' }),
  opens: z.boolean().meta({ description: 'Whether the recipient had no SOL before' }),
}).openapi('SolTransfer')
export type SolTransfer = z.output<typeof solTransfer>

export const solTransfers = {
  create: defineRoute({
    at: ['post', '/v2/sol-transfers'],
    tag: ACCOUNTS_TAG,
    summary: 'Build a transfer of SOL',
    description:
      'Refused before anyone signs: an amount above the payer’s balance, a remaining balance of the payer or a first amount for the recipient below the rent minimum, and a recipient that is a mint or a token account. Addresses of programs can receive only with `allow_programs`.',
    body: buildBody({
      payer: address.meta({ description: 'Wallet that sends and pays the fee' }),
      recipient: otherWallet,
      lamports,
      allow_programs: allowProgramsField,
    }),
    data: solTransfer,
    signed: 'refused',
    payable: 'payer',
    says: ({ lamports, recipient }) => `Send ${lamports === 'all' ? 'all SOL' : solText(lamports)} to ${recipient}`,
  }),
}
