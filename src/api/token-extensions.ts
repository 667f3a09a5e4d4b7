/** What the authorities of a Token-2022 mint's extensions do: withdraw and harvest transfer fees, and change settings. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits, mintAddress, otherWallet } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { extensionUpdateFields } from './extension-fields.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'
import { nullOr } from './scalars.ts'
import { TOKENS_TAG } from './tokens.ts'

/** Above what a transaction of version 1 has room for. */
const MOST_ACCOUNTS = 64

const accountsField = z
  .array(otherWallet)
  .min(1)
  .max(MOST_ACCOUNTS)
  .refine((accounts) => new Set(accounts).size === accounts.length, 'must name each account once')
  .optional()
  .meta({
    description:
      'Token accounts with withheld fees. Without them svc lists the accounts of the mint, and takes those with the most',
  })

const withheldAccount = z.object({ address, amount: digits })
const remaining = {
  remaining_accounts: z.int().min(0).meta({ description: 'Token accounts with withheld fees that did not fit' }),
  remaining_amount: digits.meta({ description: 'Raw units in them' }),
}

const withdrawalShape = {
  mint: mintAddress,
  authority: address.meta({ description: 'Withdraw authority, which signs' }),
  recipient: address,
  token_account: address.meta({ description: 'Token account of the recipient' }),
  opens: z.boolean().meta({ description: 'Whether the token account is opened' }),
  amount: digits.meta({ description: 'Raw units that arrive' }),
  from_mint: digits.meta({ description: 'Raw units among them that were harvested to the mint' }),
  accounts: z.array(withheldAccount),
  ...remaining,
}
const harvestShape = {
  mint: mintAddress,
  amount: digits.meta({ description: 'Raw units that move into the mint' }),
  accounts: z.array(withheldAccount),
  ...remaining,
}
const fee = { basis_points: z.int(), maximum_fee: digits }
const updateShape = {
  mint: mintAddress,
  authority: address.meta({ description: 'Holder of the authorities, which signs' }),
  transfer_fee: nullOr(
    z.object({
      present: z.object(fee),
      next: z.object({ ...fee, from_epoch: digits }),
      present_epoch: digits,
    }),
  ).meta({ description: 'Null if the fee is not changed' }),
}

const withheldWithdrawal = z
  .discriminatedUnion('mode', [unsignedPayload(withdrawalShape), signedPayload(withdrawalShape)])
  .openapi('WithheldWithdrawal')
const feeHarvest = z
  .discriminatedUnion('mode', [unsignedPayload(harvestShape), signedPayload(harvestShape)])
  .openapi('FeeHarvest')
export const extensionUpdate = z
  .discriminatedUnion('mode', [unsignedPayload(updateShape), signedPayload(updateShape)])
  .openapi('ExtensionUpdate')
export type WithheldWithdrawal = z.output<typeof withheldWithdrawal>
export type FeeHarvest = z.output<typeof feeHarvest>
export type ExtensionUpdate = z.output<typeof extensionUpdate>

const BY_PLATFORM = 'With `mode: signed` the platform wallet signs, whatever `payer` says, if its policy permits.'

export const tokenExtensionActs = {
  withdrawWithheld: defineRoute({
    at: ['post', '/v2/tokens/{mint}/withheld-withdrawals'],
    tag: TOKENS_TAG,
    summary: 'Withdraw the transfer fees of a token',
    description: `Takes what was harvested to the mint, and what token accounts withhold, as many as one transaction has room for. The withdraw authority signs. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that holds the withdraw authority and pays the fee' }),
      recipient: otherWallet.optional().meta({ description: 'Who gets the fees. The default is the payer' }),
      accounts: accountsField,
      allow_programs: allowProgramsField,
    }),
    data: withheldWithdrawal,
    signed: '*',
    payable: 'payer',
    says: ({ mint, recipient }) =>
      `Withdraw the transfer fees of the token ${mint}${recipient === undefined ? '' : ` to ${recipient}`}`,
  }),
  harvestFees: defineRoute({
    at: ['post', '/v2/tokens/{mint}/harvests'],
    tag: TOKENS_TAG,
    summary: 'Move withheld transfer fees from token accounts into the mint',
    description: `Anybody can: it needs no authority. An account that withholds nothing can be closed, and the withdraw authority takes the fees from the mint. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that pays the fee' }),
      accounts: accountsField,
    }),
    data: feeHarvest,
    signed: '*',
    payable: 'payer',
    says: ({ mint }) => `Move withheld transfer fees of ${mint} into the mint`,
  }),
  updateExtensions: defineRoute({
    at: ['patch', '/v2/tokens/{mint}/extensions'],
    tag: TOKENS_TAG,
    summary: 'Change the settings of a token’s extensions',
    description: `Transfer fee, interest rate, multiplier, the state of new accounts, the hook’s program: those that the mint has. The payer must hold the authority of each. A new fee is in force two epochs later. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that holds the authorities and pays the fee' }),
      ...extensionUpdateFields,
    }).superRefine((body, context) => {
      const names = Object.keys(extensionUpdateFields) as (keyof typeof extensionUpdateFields)[]
      if (names.some((name) => body[name] !== undefined)) return
      const message = `send at least one of ${names.join(', ')}`
      context.addIssue({ code: 'custom', path: ['transfer_fee'], message })
    }),
    example: { transfer_fee: { basis_points: 100 } },
    data: extensionUpdate,
    signed: '*',
    payable: 'payer',
    says: ({ mint }) => `Change the settings of extensions of the token ${mint}`,
  }),
}
