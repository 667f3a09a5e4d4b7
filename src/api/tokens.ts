/** Tokens: fungible mints and their revocable authorities. */
import { z } from '@hono/zod-openapi'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../solana/token-authorities.ts'
import {
  address,
  allowProgramsField,
  chosenMint,
  mintAddress,
  otherWallet,
  spentSecretKey,
  tokenProgramName,
  u64Digits,
  uri,
  warningsField,
} from './chain-scalars.ts'
import { buildBody, listQuery, writeBody } from './envelope.ts'
import { type TokenExtensions, tokenExtensions } from './extension-fields.ts'
import { signedPayload, unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { anything, line, nullOr, tokenName } from './scalars.ts'

export const TOKEN_STATUSES = [
  'created',
  'mint_authority_revoked',
  'freeze_authority_revoked',
  'fully_immutable',
] as const
const AUTHORITY_TYPES = ['mint', 'freeze', 'metadata'] as const
export type AuthorityType = (typeof AUTHORITY_TYPES)[number]

export const token = z
  .object({
    mint: mintAddress,
    status: z.enum(TOKEN_STATUSES),
    raw: anything.meta({ description: 'Metadata from its provider, or null' }),
  })
  .openapi('Token')

const tokenCreated = unsignedPayload({
  mint: mintAddress,
  required_signers: z.object({ mint_secret_key: spentSecretKey }),
  warnings: warningsField,
}).openapi('TokenCreated')

const anyAuthority = z.enum(Object.keys(TOKEN_AUTHORITIES) as [TokenAuthorityType, ...TokenAuthorityType[]])

const authorityTransferShape = {
  mint: mintAddress,
  type: anyAuthority,
  authority: address.meta({ description: 'The holder until now, which signs' }),
  new_authority: nullOr(otherWallet).meta({ description: 'Null if it is given up for good' }),
  warnings: warningsField,
}

const tokenAuthorityTransfer = z
  .discriminatedUnion('mode', [unsignedPayload(authorityTransferShape), signedPayload(authorityTransferShape)])
  .openapi('TokenAuthorityTransfer')

const tokenLabel = z
  .object({
    mint: mintAddress,
    symbol: nullOr(z.string()).meta({
      description: 'At most 10 characters, all of them visible; null if there is none on chain',
    }),
    name: nullOr(z.string()).meta({
      description:
        'Like the symbol, at most 32 characters. The creator of a mint chooses both, so they prove nothing about it',
    }),
    decimals: z.int().min(0).max(255),
    token_program: z.enum(['spl', 'token2022']),
  })
  .openapi('TokenLabel')

const tokenLabelBatch = z
  .object({
    tokens: z.array(nullOr(tokenLabel)).meta({ description: 'In the order of the request; null if there is no mint' }),
  })
  .openapi('TokenLabelBatch')

export type Token = z.output<typeof token>
export type TokenLabel = z.output<typeof tokenLabel>
export type TokenLabelBatch = z.output<typeof tokenLabelBatch>
export type TokenAuthorityTransfer = z.output<typeof tokenAuthorityTransfer>
export type TokenCreated = z.output<typeof tokenCreated>

/** Limits of the Metaplex program in bytes, not characters; Token-2022 does not have them. */
const METAPLEX_BYTES = { symbol: 10, uri: 200 } as const

function extensionFaults({
  token_program,
  extensions,
  revoke_freeze_authority,
}: {
  token_program: 'spl' | 'token2022'
  extensions?: TokenExtensions | undefined
  revoke_freeze_authority: boolean
}): { path: string[]; message: string }[] {
  if (extensions === undefined) return []
  if (token_program === 'spl')
    return [{ path: ['extensions'], message: 'are for token_program token2022: SPL Token has none' }]
  const faults: { path: string[]; message: string }[] = []
  if (extensions.interest_rate !== undefined && extensions.scaled_amount !== undefined)
    faults.push({ path: ['extensions', 'scaled_amount'], message: 'cannot be combined with interest_rate' })
  if (extensions.default_frozen && revoke_freeze_authority) {
    const message = 'must be false with default_frozen: nobody could ever thaw an account'
    faults.push({ path: ['revoke_freeze_authority'], message })
  }
  return faults
}

export const TOKENS_TAG: Tag = {
  name: 'Tokens',
  description: 'Mints of both token programs with their metadata: create, read, revoke authorities, send to many.',
}

export const tokens = {
  create: defineRoute({
    at: ['post', '/v2/tokens'],
    tag: TOKENS_TAG,
    summary: 'Build the creation of a token',
    description:
      'Mint, metadata, supply and revocations in one transaction; the payer receives the supply. The answer contains the key of the mint, which must sign and is not stored; with `mint`, you have that key, and the answer has none.',
    body: buildBody({
      payer: address,
      name: tokenName.meta({ example: 'My Token' }),
      symbol: line(10).meta({ example: 'MTK' }),
      decimals: z.int().min(0).max(9).default(6),
      initial_supply: u64Digits.meta({ description: 'In raw units, digits' }),
      uri,
      revoke_mint_authority: z.boolean().default(false),
      revoke_freeze_authority: z.boolean().default(true),
      token_program: tokenProgramName,
      extensions: tokenExtensions.optional(),
      mint: chosenMint,
    }).superRefine((body, context) => {
      for (const { path, message } of extensionFaults(body)) context.addIssue({ code: 'custom', path, message })
      if (body.token_program !== 'spl') return
      for (const field of ['symbol', 'uri'] as const) {
        if (new TextEncoder().encode(body[field]).length <= METAPLEX_BYTES[field]) continue
        const message = `must be at most ${METAPLEX_BYTES[field]} bytes in UTF-8 with token_program spl`
        context.addIssue({ code: 'custom', path: [field], message })
      }
    }),
    data: tokenCreated,
    signed: 'refused',
    payable: 'payer',
    says: ({ name, symbol }) => `Create the token ${name} (${symbol})`,
  }),
  list: defineRoute({
    at: ['get', '/v2/tokens'],
    tag: TOKENS_TAG,
    summary: 'List tokens, newest first',
    description:
      'Tokens that this service has seen on chain, without those whose mint is closed. Any other token can be read by its mint.',
    query: listQuery({
      status: z.enum(TOKEN_STATUSES).optional(),
      symbol: line(32).optional().meta({
        description:
          'Only tokens with this symbol, in any case. The creator of a mint chooses it, so it proves nothing',
      }),
    }),
    data: token,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/tokens/{mint}'],
    tag: TOKENS_TAG,
    summary: 'Read one token',
    description: 'Metadata, supply, decimals and authorities from the chain, for a token of any creator.',
    params: z.object({ mint: mintAddress }),
    data: token,
  }),
  batchFetch: defineRoute({
    at: ['post', '/v2/tokens/batch-fetch'],
    tag: TOKENS_TAG,
    summary: 'Read symbol, name and decimals of up to 100 mints at once',
    description:
      'For tables that show names instead of mints. The creator of a mint chooses its symbol and name, so show the mint next to them. It changes nothing and needs no scope.',
    body: writeBody({ mints: z.array(mintAddress).min(1).max(100) }),
    data: tokenLabelBatch,
  }),
  transferAuthority: defineRoute({
    at: ['put', '/v2/tokens/{mint}/authorities/{type}'],
    tag: TOKENS_TAG,
    summary: 'Give an authority of a token to another address, or up for good',
    description:
      'The present holder signs, and only the new one can give it back. The vault of a multisig can hold it, with `allow_programs`. `new_authority: null` gives it up: nobody can ever have it again. Types other than mint, freeze and metadata are those of extensions of Token-2022. With `mode: signed` the platform wallet gives away its own authority, whatever `payer` says, if its policy permits; mint, freeze and metadata it does not give up.',
    params: z.object({ mint: mintAddress, type: anyAuthority }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that holds the authority and pays the fee' }),
      new_authority: nullOr(otherWallet).meta({ description: 'Who gets it; null gives it up for good' }),
      allow_programs: allowProgramsField,
    }),
    data: tokenAuthorityTransfer,
    signed: '*',
    payable: 'payer',
    says: ({ mint, type, new_authority }) =>
      new_authority === null
        ? `Give up the authority ${type} of the token ${mint} for good`
        : `Give the ${type} authority of the token ${mint} to ${new_authority}`,
  }),
  revokeAuthority: defineRoute({
    at: ['delete', '/v2/tokens/{mint}/authorities/{type}'],
    tag: TOKENS_TAG,
    summary: 'Build the permanent revocation of an authority',
    description:
      'It can never be given to anyone again. Without the mint authority the supply is fixed; without all three the token is fully immutable.',
    params: z.object({ mint: mintAddress, type: z.enum(AUTHORITY_TYPES) }),
    body: buildBody({ payer: address }),
    data: unsignedPayload({}),
    signed: 'refused',
    payable: 'payer',
    says: ({ mint, type }) => `Revoke the ${type} authority of the token ${mint}`,
  }),
}
