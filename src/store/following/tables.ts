/** Tables of followed accounts, and of transactions found in their histories. */
import type { Generated } from 'kysely'

/** An account whose transactions can change records, and how far its history was looked at. */
interface FollowedAccountsTable {
  seq: Generated<number>
  /** Genesis hash of the account's chain. */
  genesis: string
  address: string
  /** Why it is followed; the projections name it. One account may be followed for several reasons, each its own row. */
  kind: string
  /**
   * `state`: its history is listed when its data has changed; `history`: at each look; `source`: never, because other
   * accounts are found by it.
   */
  watch: 'state' | 'history' | 'source'
  /** Another followed account: only transactions in the histories of both are read. */
  beside: string | null
  /** Address of the record that it belongs to, where that is not its own: the mint of metadata. */
  about: string | null
  /**
   * The wallet whose history is listed when the account has changed, where its own would be read in vain: a pool's is its
   * trades. Null for the account itself.
   */
  history_of: string | null
  /**
   * SHA-256 of the account's data when its history was last listed to the end; null before, and while a change is not
   * final. `3:` before it: the data has changed since, which three listings have not explained. `@7:` before it: it was
   * first read so in slot 7, to which a wallet's history is not listed yet as final.
   */
  state_hash: string | null
  /** Newest finalized transaction up to which the history was listed without a gap. */
  seen_slot: number
  seen_signature: string | null
  /** Newest finalized transaction of the listing under way, which becomes the seen one at its end. */
  head_slot: number | null
  head_signature: string | null
  /** Where the listing under way goes on, towards older transactions; null while there is no gap. */
  before_signature: string | null
  /** Signatures that the listing under way has found, which number them from the newest. */
  listed: Generated<number>
  /** Number of looks in a row that found nothing. */
  quiet: Generated<number>
  next_look_at: number
  created_at: number
}

/** A transaction that was found in the history of a followed account. */
interface ChainTransactionsTable {
  seq: Generated<number>
  genesis: string
  signature: string
  slot: number
  /** Number from the newest within the listing that found it, which orders those of one slot. */
  place: number
  /** The followed account that it was found with. */
  address: string
  /**
   * `listed` until its listing has no gap, `waiting` until it is read, `half` while the history beside has not shown
   * it; `read` and `empty` (nothing for a record) until it is `finalized` or `dropped` with its fork.
   */
  state: 'listed' | 'half' | 'waiting' | 'read' | 'empty' | 'finalized' | 'dropped'
  /** Time of the next reading or check; null once no further change is expected. */
  next_check_at: number | null
  /** Readings in a row that have failed, after each of which the wait is longer. */
  tries: Generated<number>
  created_at: number
  /** Time at which the ledger took it; null before. */
  ledger_at: Generated<number | null>
  /** Highest `seq` of a followed account when it was read: one that is followed later reads it anew. */
  accounts_known: Generated<number>
}

export interface FollowingTables {
  followed_accounts: FollowedAccountsTable
  chain_transactions: ChainTransactionsTable
}
