/** Acts on tokens: what the holder of an authority does with a mint, for one wallet or for as many as fit. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, digits, mintAddress, otherWallet, warningsField } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute, type Units } from './route.ts'
import { MOST_IN_REQUEST, positiveAmount, refuseRepeated, walletAmounts } from './token-transfers.ts'
import { TOKENS_TAG } from './tokens.ts'

/** Why a wallet of a list is refused, besides the reasons of a transfer. */
export const TOKEN_ACT_FAULTS = ['no_account', 'too_little', 'not_authorized', 'frozen_already', 'not_frozen'] as const
export type TokenActFault = (typeof TOKEN_ACT_FAULTS)[number]

const rent = digits.meta({ description: 'Lamports that the payer pays for the opened token accounts' })
const accountShape = { wallet: address, token_account: address }
const opens = z.boolean().meta({ description: 'Whether the token account is opened' })

const supplyShape = {
  mint: mintAddress,
  authority: address.meta({ description: 'Wallet that signs' }),
  total: digits.meta({ description: 'Raw units' }),
  supply: digits.meta({ description: 'Raw units that exist before it' }),
  new_supply: digits.meta({ description: 'Raw units that exist after it' }),
}
const mintingShape = {
  ...supplyShape,
  recipients: z.array(z.object({ ...accountShape, amount: digits, opens })),
  rent,
}
const burningShape = { ...supplyShape, holders: z.array(z.object({ ...accountShape, amount: digits })) }
const freezingShape = {
  mint: mintAddress,
  authority: address.meta({ description: 'Freeze authority, which signs' }),
  accounts: z.array(z.object({ ...accountShape, opens })),
  rent,
  warnings: warningsField,
}

const tokenMinting = z
  .discriminatedUnion('mode', [unsignedPayload(mintingShape), signedPayload(mintingShape)])
  .openapi('TokenMinting')
const tokenBurning = z
  .discriminatedUnion('mode', [unsignedPayload(burningShape), signedPayload(burningShape)])
  .openapi('TokenBurning')
const tokenFreezing = z
  .discriminatedUnion('mode', [unsignedPayload(freezingShape), signedPayload(freezingShape)])
  .openapi('TokenFreezing')
export type TokenMinting = z.output<typeof tokenMinting>
export type TokenBurning = z.output<typeof tokenBurning>
export type TokenFreezing = z.output<typeof tokenFreezing>

const mintActShape = { mint: mintAddress, authority: address.meta({ description: 'Wallet that signs' }) }
const closingShape = {
  ...mintActShape,
  lamports: digits.meta({ description: 'Lamports that return to the authority' }),
}
const tokenPausing = z
  .discriminatedUnion('mode', [unsignedPayload(mintActShape), signedPayload(mintActShape)])
  .openapi('TokenPausing')
const tokenClosing = z
  .discriminatedUnion('mode', [unsignedPayload(closingShape), signedPayload(closingShape)])
  .openapi('TokenClosing')
export type TokenPausing = z.output<typeof tokenPausing>
export type TokenClosing = z.output<typeof tokenClosing>

const walletList = z
  .array(otherWallet)
  .min(1)
  .max(MOST_IN_REQUEST)
  .superRefine((wallets, context) =>
    refuseRepeated('wallets', wallets, (place, message) =>
      context.addIssue({ code: 'custom', path: [place], message }),
    ),
  )

/** Reports a body with both the one and the list, with neither, or with a companion of the one beside the list. */
function requireOne<T extends object>(one: keyof T & string, list: keyof T & string, companion?: keyof T & string) {
  return (body: T, context: z.RefinementCtx) => {
    const fault = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    const [hasOne, hasList] = [body[one] !== undefined, body[list] !== undefined]
    if (hasOne === hasList) fault(one, `send either ${one} or ${list}`)
    if (hasList && companion !== undefined && body[companion] !== undefined)
      fault(companion, `is for ${one}; ${list} have their own wallets`)
  }
}

const OF_MANY =
  'If there are too many wallets, the request is refused, and `details.fits` says how many of the first ones fit.'
const BY_PLATFORM = 'With `mode: signed` the platform wallet signs, whatever `payer` says, if its policy permits.'
const authorityPayer = (authority: string) =>
  address.meta({ description: `Wallet that holds the ${authority} authority and pays the fee` })

/** The amount of one wallet, or the sum for several. */
async function countedText(amount: string | undefined, list: readonly { amount: string }[] | undefined, units: Units) {
  if (list === undefined) return units(amount ?? '0')
  return `${await units(list.reduce((sum, each) => sum + BigInt(each.amount), 0n))} (${list.length} wallets)`
}

export const tokenActs = {
  mint: defineRoute({
    at: ['post', '/v2/tokens/{mint}/mints'],
    tag: TOKENS_TAG,
    summary: 'Mint more of a token',
    description: `The mint authority signs. Missing token accounts are opened. ${OF_MANY} ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: authorityPayer('mint'),
      amount: positiveAmount.optional().meta({ description: 'Raw units for one wallet, digits' }),
      recipient: otherWallet.optional().meta({ description: 'Who gets the amount. The default is the payer' }),
      recipients: walletAmounts('recipients', MOST_IN_REQUEST)
        .optional()
        .meta({ description: 'Several wallets with their amounts, instead of `amount`' }),
      allow_programs: allowProgramsField,
    }).superRefine(requireOne('amount', 'recipients', 'recipient')),
    example: { amount: '1000000' },
    data: tokenMinting,
    signed: '*',
    payable: 'payer',
    says: async ({ mint, amount, recipients }, units) =>
      `Mint ${await countedText(amount, recipients, units)} of the token ${mint}`,
  }),
  burn: defineRoute({
    at: ['post', '/v2/tokens/{mint}/burns'],
    tag: TOKENS_TAG,
    summary: 'Burn some of a token for good',
    description: `The owner signs, or the permanent delegate of a Token-2022 mint, who can burn what others hold. ${OF_MANY} ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Owner or permanent delegate, who pays the fee' }),
      amount: positiveAmount.optional().meta({ description: 'Raw units of one holder, digits' }),
      holder: otherWallet.optional().meta({ description: 'Whose tokens are burned. The default is the payer' }),
      holders: walletAmounts('holders', MOST_IN_REQUEST)
        .optional()
        .meta({ description: 'Several holders with their amounts, instead of `amount`' }),
    }).superRefine(requireOne('amount', 'holders', 'holder')),
    example: { amount: '1000000' },
    data: tokenBurning,
    signed: '*',
    payable: 'payer',
    says: async ({ mint, amount, holders }, units) =>
      `Burn ${await countedText(amount, holders, units)} of the token ${mint}`,
  }),
  freeze: defineRoute({
    at: ['post', '/v2/tokens/{mint}/freezes'],
    tag: TOKENS_TAG,
    summary: 'Freeze the token account of a wallet',
    description: `The freeze authority signs. A frozen account neither sends nor receives the token until it is thawed. A wallet's other token accounts stay as they are: name them themselves. ${OF_MANY} ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({
      payer: authorityPayer('freeze'),
      wallet: otherWallet.optional().meta({ description: 'Wallet, or one of its token accounts' }),
      wallets: walletList.optional().meta({ description: 'Several of them, instead of `wallet`' }),
    }).superRefine(requireOne('wallet', 'wallets')),
    example: { wallet: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78' },
    data: tokenFreezing,
    signed: '*',
    payable: 'payer',
    says: ({ mint, wallet, wallets }) =>
      `Freeze the token ${mint} of ${wallets === undefined ? wallet : `${wallets.length} wallets`}`,
  }),
  thaw: defineRoute({
    at: ['delete', '/v2/tokens/{mint}/freezes/{wallet}'],
    tag: TOKENS_TAG,
    summary: 'Thaw the frozen token account of a wallet',
    description: `The freeze authority signs. If new accounts of the mint are frozen, a missing one is opened and thawed. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress, wallet: otherWallet }),
    body: buildBody({ payer: authorityPayer('freeze') }),
    data: tokenFreezing,
    signed: '*',
    payable: 'payer',
    says: ({ mint, wallet }) => `Thaw the token ${mint} of ${wallet}`,
  }),
  thawList: defineRoute({
    at: ['delete', '/v2/tokens/{mint}/freezes'],
    tag: TOKENS_TAG,
    summary: 'Thaw the frozen token accounts of several wallets',
    description: `Thaws those of the list and no others. ${OF_MANY} ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({ payer: authorityPayer('freeze'), wallets: walletList }),
    example: { wallets: ['6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78'] },
    data: tokenFreezing,
    signed: '*',
    payable: 'payer',
    says: ({ mint, wallets }) => `Thaw the token ${mint} of ${wallets.length} wallets`,
  }),
  pause: defineRoute({
    at: ['put', '/v2/tokens/{mint}/pause'],
    tag: TOKENS_TAG,
    summary: 'Pause a token',
    description: `The pause authority of a Token-2022 mint signs. Until it resumes the token, nobody can mint, burn or send it. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({ payer: authorityPayer('pause') }),
    data: tokenPausing,
    signed: '*',
    payable: 'payer',
    says: ({ mint }) => `Pause the token ${mint}`,
  }),
  resume: defineRoute({
    at: ['delete', '/v2/tokens/{mint}/pause'],
    tag: TOKENS_TAG,
    summary: 'Resume a paused token',
    description: `The pause authority of a Token-2022 mint signs. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({ payer: authorityPayer('pause') }),
    data: tokenPausing,
    signed: '*',
    payable: 'payer',
    says: ({ mint }) => `Resume the token ${mint}`,
  }),
  close: defineRoute({
    at: ['delete', '/v2/tokens/{mint}'],
    tag: TOKENS_TAG,
    summary: 'Close the mint of a token for good',
    description: `The close authority of a Token-2022 mint signs, and gets its rent. All of the token must be burned before. ${BY_PLATFORM}`,
    params: z.object({ mint: mintAddress }),
    body: buildBody({ payer: authorityPayer('close') }),
    data: tokenClosing,
    signed: '*',
    payable: 'payer',
    says: ({ mint }) => `Close the mint ${mint} for good`,
  }),
}
