/** Accounts: balance, owner and data of an address on the chain. */
import { z } from '@hono/zod-openapi'
import { address, digits, mintAddress } from './chain-scalars.ts'
import { writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { nullOr } from './scalars.ts'

export const account = z
  .object({
    address,
    lamports: digits,
    owner: address.meta({ description: 'Program that owns the account' }),
    executable: z.boolean(),
    data: z.base64(),
    space: z.int().min(0).meta({ description: 'Length of the data in bytes' }),
    slot: z.int().min(0).meta({ description: 'Slot of the read' }),
  })
  .openapi('Account')

const accountBatch = z
  .object({
    accounts: z
      .array(nullOr(account))
      .meta({ description: 'In the order of the request; null if there is no account' }),
  })
  .openapi('AccountBatch')

const walletBalances = z
  .object({
    wallet: address,
    lamports: digits,
    tokens: z
      .array(
        z.object({
          mint: mintAddress,
          account: address.meta({ description: 'Token account of the wallet' }),
          amount: digits.meta({ description: 'Raw units; lamports for wrapped SOL' }),
          decimals: nullOr(z.int()).meta({ description: 'Null if the mint cannot be read' }),
          symbol: nullOr(z.string()).meta({ description: 'Chosen by the creator of the mint' }),
          name: nullOr(z.string()).meta({ description: 'Chosen by the creator of the mint' }),
          token_program: nullOr(z.enum(['spl', 'token2022'])),
          frozen: z.boolean().meta({ description: 'Whether the freeze authority has frozen it' }),
        }),
      )
      .meta({ description: 'Token accounts with a balance, at most 200, sorted by mint and account' }),
    empty_accounts: z.int().min(0).meta({ description: 'Number of empty token accounts' }),
    truncated: z.boolean().meta({ description: 'Whether there are more; `mint` finds a single one' }),
  })
  .openapi('WalletBalances')

export type WalletBalances = z.output<typeof walletBalances>
export type AccountRecord = z.output<typeof account>
export type AccountBatch = z.output<typeof accountBatch>

export const ACCOUNTS_TAG: Tag = { name: 'Accounts', description: 'Accounts on the chain, and what a wallet holds.' }

export const accounts = {
  get: defineRoute({
    at: ['get', '/v2/accounts/{address}'],
    tag: ACCOUNTS_TAG,
    summary: 'Read one account',
    description: 'Raw data and owner from the chain. An account that does not exist is `not_found`.',
    params: z.object({ address }),
    data: account,
  }),
  batchFetch: defineRoute({
    at: ['post', '/v2/accounts/batch-fetch'],
    tag: ACCOUNTS_TAG,
    summary: 'Read up to 100 accounts at once',
    description:
      'Answers in the order of the request, with null if there is no account. It changes nothing and needs no scope.',
    body: writeBody({ addresses: z.array(address).min(1).max(100) }),
    data: accountBatch,
  }),
  balances: defineRoute({
    at: ['get', '/v2/wallets/{wallet}/balances'],
    tag: ACCOUNTS_TAG,
    summary: 'Read the SOL and the tokens of a wallet',
    description:
      'Tokens of both token programs, with symbol, name and decimals. Anyone can send tokens to a wallet, so at most 10,000 token accounts of each program are read, and 200 are answered.',
    params: z.object({ wallet: address }),
    query: z.strictObject({ mint: mintAddress.optional() }),
    data: walletBalances,
  }),
}
