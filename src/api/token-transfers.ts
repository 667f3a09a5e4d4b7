/** Token transfers: amounts of one token to many wallets, as many as one transaction has room for. */
import { z } from '@hono/zod-openapi'
import { ADDRESS_FAULTS } from '../solana/bare-addresses.ts'
import { address, allowProgramsField, digits, mintAddress, otherWallet, treeId, u64Digits } from './chain-scalars.ts'
import { buildBody, txTermsShape, writeBody } from './envelope.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { TOKENS_TAG } from './tokens.ts'

/** Reasons why a wallet is left out. */
export const TRANSFER_FAULTS = [
  'sender',
  ...ADDRESS_FAULTS,
  'account_taken',
  'account_frozen',
  'new_accounts_frozen',
  'memo_required',
  'claimed',
] as const
export type TransferFault = (typeof TRANSFER_FAULTS)[number]

/** Above what a transaction of version 1 has room for. */
export const MOST_IN_REQUEST = 64
const MOST_IN_PLAN = 500

export const positiveAmount = u64Digits.refine((text) => /[1-9]/.test(text), 'must be more than 0')

/** A wallet may be in the list only once, so that none is paid twice by mistake. `name` is the field of the list. */
export const walletAmounts = (name: string, most: number) =>
  z
    .array(z.strictObject({ wallet: otherWallet, amount: positiveAmount }))
    .min(1)
    .max(most)
    .superRefine((list, context) =>
      refuseRepeated(
        name,
        list.map(({ wallet }) => wallet),
        (place, message) => context.addIssue({ code: 'custom', path: [place, 'wallet'], message }),
      ),
    )

/** Reports each wallet that is in the list for a second time. */
export function refuseRepeated(
  name: string,
  wallets: readonly string[],
  report: (place: number, message: string) => void,
): void {
  const places = new Map<string, number>()
  for (const [i, wallet] of wallets.entries()) {
    const earlier = places.get(wallet)
    if (earlier === undefined) places.set(wallet, i)
    else report(i, `is already at ${name}.${earlier}`)
  }
}

const transferFields = {
  payer: address.meta({ description: 'Wallet that sends, and pays for missing token accounts' }),
  mint: mintAddress,
  allow_programs: allowProgramsField,
  accept_transfer_fee: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether to send a token with a transfer fee; less than the amount arrives then' }),
  airdrop_id: treeId.optional().meta({
    description:
      'Airdrop of this token whose list is sent. Wallets that have claimed get nothing, and nothing is built while its vault can pay claims',
  }),
}

const rent = digits.meta({ description: 'Lamports that the payer pays for the opened token accounts' })

const transferShape = {
  recipients: z.array(
    z.object({
      wallet: address,
      token_account: address,
      amount: digits,
      opens: z.boolean().meta({ description: 'Whether the token account is opened' }),
    }),
  ),
  total: digits.meta({ description: 'Raw units' }),
  rent,
}

const tokenTransfer = z
  .discriminatedUnion('mode', [unsignedPayload(transferShape), signedPayload(transferShape)])
  .openapi('TokenTransfer')
export type TokenTransfer = z.output<typeof tokenTransfer>

const roomOf = (version: number) =>
  z
    .object({
      ready: z.int().meta({ description: 'Wallets that already have their token account' }),
      to_open: z.int().meta({ description: 'Wallets whose token account is opened' }),
    })
    .meta({ description: `Most recipients in one transaction of version ${version}, beside its guards if it gets any` })

const tokenTransferPlan = z
  .object({
    mint: mintAddress,
    token_program: z.enum(['spl', 'token2022']),
    decimals: z.int(),
    source: address.meta({ description: "The payer's token account" }),
    held: digits.meta({ description: 'Raw units in it' }),
    lamports: digits.meta({ description: 'Balance of the payer' }),
    rent_per_account: digits.meta({ description: 'Lamports to open one token account' }),
    transfer_fee: z
      .object({ basis_points: z.int(), maximum_fee: digits })
      .nullable()
      .meta({ description: 'Fee that the token withholds from each transfer' }),
    fits: z.object({ v0: roomOf(0), v1: roomOf(1) }),
    recipients: z.array(
      z.object({
        wallet: address,
        amount: digits,
        token_account: address,
        status: z.enum(['ready', 'to_open', 'left_out']),
        reason: z.enum(TRANSFER_FAULTS).nullable().meta({ description: 'Why it is left out' }),
        note: z.string().nullable().meta({ description: 'The reason in words' }),
      }),
    ),
    total: digits.meta({ description: 'Raw units for all wallets that are not left out' }),
    rent,
  })
  .openapi('TokenTransferPlan')

export const tokenTransfers = {
  create: defineRoute({
    at: ['post', '/v2/token-transfers'],
    tag: TOKENS_TAG,
    summary: 'Build one transaction that sends a token to many wallets',
    description:
      'Missing token accounts are opened. If there are too many recipients, the request is refused, and `details.fits` says how many of the first ones fit; `tx_version: 1` has room for more. With `mode: signed` the platform wallet sends, whatever `payer` says.',
    body: buildBody({ ...transferFields, recipients: walletAmounts('recipients', MOST_IN_REQUEST) }),
    data: tokenTransfer,
    signed: 'airdrop:admin',
    payable: 'payer',
    says: ({ mint, recipients }) => `Send the token ${mint} to ${recipients.length} wallets`,
  }),
  plan: defineRoute({
    at: ['post', '/v2/token-transfer-plans'],
    tag: TOKENS_TAG,
    summary: 'Check which wallets can receive a token, and the cost of sending it',
    description: 'Reads the chain and builds nothing. Split a longer list into several requests.',
    body: writeBody({
      ...transferFields,
      recipients: walletAmounts('recipients', MOST_IN_PLAN),
      guard: txTermsShape.guard,
    }),
    data: tokenTransferPlan,
    dry: true,
  }),
}
