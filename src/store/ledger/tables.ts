/** Tables of the ledger: what was read, its entries, and their totals. */
import type { Generated } from 'kysely'

/** A transaction that the ledger has read, or could not read. */
interface LedgerTransactionsTable {
  seq: Generated<number>
  genesis: string
  signature: string
  /** Null where it is not known before it is read. */
  slot: number | null
  /** Time of its block in Unix milliseconds; null until it is read. */
  occurred_at: number | null
  status: 'written' | 'unread'
  /** Whether it failed, so that it paid its network fee alone. */
  failed: number
  /** Why it is unread. */
  reason: string | null
  tries: Generated<number>
  /** Time of the next reading; null once it is written. */
  next_try_at: number | null
  created_at: number
}

/** One posting: what a final transaction changed about one account's balance of one token, or a named part of it. */
interface LedgerEntriesTable {
  seq: Generated<number>
  genesis: string
  signature: string
  slot: number
  /** Time of the block in Unix milliseconds. */
  occurred_at: number
  /** Latest `occurred_at` of all entries up to this one. */
  latest_at: number
  /** Month of `occurred_at` in UTC, as 2026-11. */
  month: string
  /** Address on the chain, or `network` for what the validators keep. */
  account: string
  /** Wallet that owns the token account; the account itself for any other. */
  owner: string
  /** Mint; empty for SOL, wrapped or not. */
  token: string
  symbol: string | null
  decimals: number
  /** Raw units with a sign. */
  amount: string
  /** The amount in parts that a database can add up: high * 10^12 + low, both with the amount's sign. */
  amount_high: number
  amount_low: number
  /** What the account held after the transaction; null for accounts that are not on the chain. */
  balance_after: string | null
  kind: string
  /** Which claim it was. */
  detail: string | null
  party: string
  counterparty: string | null
  pool: string | null
  /** Price of a whole token at the time of writing; null where no source has one. */
  price: string | null
  price_currency: string | null
  price_source: string | null
  created_at: number
}

/** What the entries of a month, pool, kind, party and token sum to, in parts as amounts are; `pool` is empty for none. */
interface LedgerTotalsTable {
  genesis: string
  month: string
  pool: string
  kind: string
  party: string
  token: string
  symbol: string | null
  decimals: number
  entries: number
  received_high: number
  received_low: number
  paid_high: number
  paid_low: number
}

export interface LedgerTables {
  ledger_transactions: LedgerTransactionsTable
  ledger_entries: LedgerEntriesTable
  ledger_totals: LedgerTotalsTable
}
