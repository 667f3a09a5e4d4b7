/** Tables of followed accounts, and of transactions found in their histories. */
import type { Generated } from 'kysely'

/** An account whose transactions can change records, and how far its history was listed. */
interface FollowedAccountsTable {
  seq: Generated<number>
  /** Genesis hash of the account's chain. */
  genesis: string
  address: string
  /**
   * Why it is followed, as named by the projection. An account may be followed for several reasons, each in its own
   * row.
   */
  kind: string
  /**
   * `state`: its history is listed when its data has changed; `history`: at each look; `source`: never, because it
   * only leads to other accounts.
   */
  watch: 'state' | 'history' | 'source'
  /** Another followed account: only transactions in the histories of both are read. */
  beside: string | null
  /** Address of the record that it belongs to, if that differs: for example the mint of metadata. */
  about: string | null
  /**
   * The wallet whose history is listed when the account has changed; null for the account's own. A pool's own history
   * would be useless, because it consists of trades.
   */
  history_of: string | null
  /**
   * SHA-256 of the account's data when its history was last listed completely; null before that, and while a change is
   * not final. With the prefix `3:` the data has changed and three listings did not explain it. With `@7:` it was
   * first read in slot 7, and the wallet's final history is not listed up to that slot yet.
   */
  state_hash: string | null
  /** Newest finalized transaction up to which the history was listed without a gap. */
  seen_slot: number
  seen_signature: string | null
  /** Newest finalized transaction of the current listing. It becomes the seen one at the end. */
  head_slot: number | null
  head_signature: string | null
  /** Where the current listing continues towards older transactions; null without a gap. */
  before_signature: string | null
  /** Number of signatures that the current listing has found. It numbers them from the newest. */
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
  /** Its number in the listing that found it, counted from the newest. It orders transactions of one slot. */
  place: number
  /** The followed account whose listing found it. */
  address: string
  /**
   * `listed` until its listing has no gap, `half` until the second history shows it, `waiting` until it is read. Then
   * `read` or `empty` (no record changed), until it is `finalized` or `dropped` with its fork.
   */
  state: 'listed' | 'half' | 'waiting' | 'read' | 'empty' | 'finalized' | 'dropped'
  /** Time of the next reading or check; null once no further change is expected. */
  next_check_at: number | null
  /** Failed readings in a row. Each makes the wait longer. */
  tries: Generated<number>
  created_at: number
  /** Time at which the ledger read it; null before. */
  ledger_at: Generated<number | null>
  /** Highest `seq` of a followed account when it was read. If it is found for a later one, it is read again. */
  accounts_known: Generated<number>
}

export interface FollowingTables {
  followed_accounts: FollowedAccountsTable
  chain_transactions: ChainTransactionsTable
}
