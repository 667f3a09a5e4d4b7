/**
 * The ledger: double-entry postings of what final transactions moved, their sums, and their comparison with the chain.
 */
import { z } from '@hono/zod-openapi'
import { address, digits, signatureText, signedDigits } from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { moment } from './filters.ts'
import { LEDGER_GROUPS, LEDGER_KINDS, LEDGER_PARTIES } from './ledger-names.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, timestamp } from './scalars.ts'

/** A mint, or SOL. */
const token = z.string().meta({ description: 'Mint, or `SOL` for lamports; wrapped SOL is SOL', example: 'SOL' })

export const ledgerEntry = z
  .object({
    sequence: z.int().min(1),
    signature: signatureText,
    slot: z.int().min(0),
    occurred_at: timestamp.meta({ description: 'Time of the block, UTC' }),
    account: z.string().meta({ description: 'Account on the chain; `network` for what validators receive' }),
    owner: z
      .string()
      .meta({ description: 'Wallet that owns the token account; for any other account, the account itself' }),
    party: z.enum(LEDGER_PARTIES),
    kind: z.enum(LEDGER_KINDS),
    detail: z.string().nullable().meta({ description: 'Which claim it was, such as `surplus`' }),
    token,
    symbol: z.string().nullable(),
    decimals: z.int().min(0),
    amount: signedDigits,
    balance_after: digits.nullable().meta({ description: 'Balance of the token in the account after the transaction' }),
    counterparty: z.string().nullable(),
    pool: address.nullable(),
    price: z.string().nullable().meta({ description: 'Price of a whole token when the entry was written' }),
    price_currency: z.string().nullable(),
    price_source: z.string().nullable(),
  })
  .openapi('LedgerEntry')

const ledgerSum = z
  .object({
    key: z
      .string()
      .nullable()
      .meta({ description: 'Pool, mint, party, month or kind; null for entries without a pool' }),
    party: z.enum(LEDGER_PARTIES),
    token,
    symbol: z.string().nullable(),
    decimals: z.int().min(0),
    entries: z.int().min(1),
    received: digits,
    paid: digits,
    net: signedDigits,
  })
  .openapi('LedgerSum')

const unreadTransaction = z.object({ signature: signatureText, reason: z.string() })

const ledgerVerification = z
  .object({
    transactions: z.int().min(0).meta({ description: 'Transactions that this step read from the chain again' }),
    entries: z.int().min(0).meta({ description: 'Entries that this step compared' }),
    faults: z
      .array(
        z.object({
          signature: signatureText.nullable(),
          account: z.string().nullable(),
          token: token.nullable(),
          reason: z.enum(['amount', 'unbalanced', 'not_on_chain', 'discontinuous', 'missing', 'balance']),
          expected: z.string().nullable(),
          found: z.string().nullable(),
        }),
      )
      .meta({ description: 'Differences between the ledger and the chain' }),
    unread: z.array(unreadTransaction).meta({ description: 'Transactions that no node returns in full' }),
    waiting: z
      .int()
      .min(0)
      .meta({ description: 'Transactions that are final and not yet in the ledger, at most 1,000' }),
    not_final: z
      .int()
      .min(0)
      .meta({ description: 'Transactions that changed a balance of the platform wallet and are not final yet' }),
    accounts: z
      .array(
        z.object({
          account: address,
          token,
          opening: digits,
          change: signedDigits,
          expected: signedDigits,
          balance: digits,
        }),
      )
      .meta({
        description:
          'Platform wallets and their token accounts that have ledger entries: opening balance plus entries, compared with the present balance',
      }),
    next_cursor: z.string().nullable().meta({ description: 'Cursor of the next step; null at the end' }),
  })
  .openapi('LedgerVerification')

const ledgerRepair = z
  .object({
    transactions: z.int().min(0).meta({ description: 'Transactions that this step read for the ledger' }),
    repaired: z
      .array(signatureText)
      .meta({ description: 'Transactions whose entries were missing and are written now' }),
    unread: z.array(signatureText).meta({ description: 'Transactions that no node returns in full' }),
    next_cursor: z.string().nullable().meta({ description: 'Cursor of the next step; null at the end' }),
  })
  .openapi('LedgerRepair')

export type LedgerRepair = z.output<typeof ledgerRepair>
export type LedgerEntry = z.output<typeof ledgerEntry>
export type LedgerSum = z.output<typeof ledgerSum>
export type LedgerVerification = z.output<typeof ledgerVerification>

const month = z
  .string()
  .regex(/^[0-9]{4}-(?:0[1-9]|1[0-2])$/, 'must be a month like 2026-11')
  .meta({ description: 'Only this month, UTC', example: '2026-11' })
const tokenFilter = z.union([address, z.literal('SOL')]).meta({ description: 'Mint, or `SOL`' })

const filters = {
  pool: address.optional(),
  mint: tokenFilter.optional(),
  party: z.enum(LEDGER_PARTIES).optional(),
  kind: z.enum(LEDGER_KINDS).optional(),
}

const entryFilters = {
  ...filters,
  account: line(64)
    .optional()
    .meta({ description: 'Wallet, including its token accounts, or any other account; `network` for network fees' }),
  created_after: moment.optional().meta({ description: 'Only entries after this time' }),
  created_before: moment.optional().meta({ description: 'Only entries before this time' }),
}

/**
 * A cursor names the last compared transaction, or the wallet or token account that is followed, with the slot, its
 * balance there, the opening balance and the sum of the entries in between.
 */
const verificationPlace = z
  .string()
  .regex(
    /^(?:transactions\.[0-9]{1,15}|(?:accounts\.[0-9]{1,3}|holdings\.[0-9]{1,3}(?:\.[1-9A-HJ-NP-Za-km-z]{32,44})?)(?:\.[0-9]{1,15}\.[0-9]{1,20}\.[0-9]{1,20}\.-?[0-9]{1,20})?)$/,
    'must be a cursor of this list',
  )

/** A cursor names the last unread transaction, or the account whose history follows, with the signature to continue after. */
const repairPlace = z
  .string()
  .regex(
    /^(?:unread\.[0-9]{1,15}|history(?:\.[1-9A-HJ-NP-Za-km-z]{32,44}(?:\.[1-9A-HJ-NP-Za-km-z]{86,88})?)?)$/,
    'must be a cursor of this list',
  )

const LEDGER_TAG: Tag = {
  name: 'Ledger',
  description: 'Every balance that a transaction of this service changed, in entries that add up to zero.',
}

export const ledger = {
  list: defineRoute({
    at: ['get', '/v2/ledger'],
    tag: LEDGER_TAG,
    summary: 'List what final transactions moved, newest first',
    description:
      'One entry for each balance that a transaction changed, or for a named part of the change. Transactions of this service and those found on chain are included. The entries of one transaction and token add up to zero.',
    query: listQuery({ ...entryFilters, signature: signatureText.optional() }),
    data: ledgerEntry,
    list: true,
  }),
  summary: defineRoute({
    at: ['get', '/v2/ledger/summary'],
    tag: LEDGER_TAG,
    summary: 'Add up the ledger by pool, mint, party, month or kind, and by party and token',
    description: 'Sums in raw units, one for each token; amounts of different tokens are never added.',
    query: listQuery({ by: z.enum(LEDGER_GROUPS).default('month'), ...filters, month: month.optional() }),
    data: ledgerSum,
    list: true,
  }),
  verify: defineRoute({
    at: ['get', '/v2/ledger/verification'],
    tag: LEDGER_TAG,
    summary: 'Compare the ledger with the chain',
    description:
      'Reads the transactions of the ledger from the chain again and compares every balance change. Then it follows the balances of the platform wallet and its token accounts from entry to entry up to now. Each call is one step of at most 60 requests to the node; `next_cursor` continues.',
    query: z.strictObject({ cursor: verificationPlace.optional() }),
    data: ledgerVerification,
  }),
  repair: defineRoute({
    at: ['post', '/v2/ledger/repairs'],
    tag: LEDGER_TAG,
    summary: 'Write the entries that the ledger lacks',
    description:
      'Reads unread transactions again, and lists the histories of the platform wallets and their token accounts from the beginning. Final transactions that the ledger lacks are read as if they had just been found: their entries, records and events are written, each once. Stored entries never change. Each call is one step of at most 150 requests to the node; `next_cursor` continues.',
    body: writeBody({ cursor: repairPlace.optional() }),
    data: ledgerRepair,
    scope: '*',
  }),
}
