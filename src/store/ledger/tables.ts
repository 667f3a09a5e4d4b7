/** Tables of the ledger: transactions that were read, their entries, and totals. */
import type { Generated } from 'kysely'

/** A transaction that the ledger has read, or could not read. */
interface LedgerTransactionsTable {
  seq: Generated<number>
  genesis: string
  signature: string
  /** Null if unknown before it is read. */
  slot: number | null
  /** Time of its block in Unix milliseconds; null until it is read. */
  occurred_at: number | null
  status: 'written' | 'unread'
  /** Whether it failed and so only paid its network fee. */
  failed: number
  /** Why it is unread. */
  reason: string | null
  tries: Generated<number>
  /** Time of the next reading; null once it is written. */
  next_try_at: number | null
  created_at: number
}

/** One posting: the change of one account's balance of one token by a final transaction, or a named part of it. */
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
  /** Address on the chain, or `network` for the share of the validators. */
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
  /** The account's balance after the transaction; null for accounts that are not on the chain. */
  balance_after: string | null
  kind: string
  /** Kind of the claim. */
  detail: string | null
  party: string
  counterparty: string | null
  pool: string | null
  /** Price of a whole token at the time of writing; null if no source has one. */
  price: string | null
  price_currency: string | null
  price_source: string | null
  created_at: number
}

/**
 * Totals of the entries of a month, pool, kind, party and token, in parts like other amounts. `pool` is empty for
 * none.
 */
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
