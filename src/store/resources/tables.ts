/** Tables of tokens, pools, NFTs, stakes, gold locks, holder snapshots and token images. */
import type { Generated } from 'kysely'
import type { Recorded } from '../queries/recorded.ts'

interface TokensTable extends Recorded {
  mint: string
  status: 'created' | 'mint_authority_revoked' | 'freeze_authority_revoked' | 'fully_immutable'
  token_program: string
  raw_json: string | null
  /** As `storedSymbol` makes it. */
  symbol: Generated<string | null>
}

interface PoolsTable extends Recorded {
  address: string
  type: 'dbc' | 'damm_v2'
  base_mint: string
  quote_mint: string
  config: string | null
  creator: string | null
  name: string | null
  symbol: string | null
  metadata_uri: string | null
  status: 'pending' | 'live' | 'migration_triggered' | 'migrated' | 'failed'
  /** Name of the curve with which the pool was launched. */
  preset: string | null
  /** Address of the pool that this launch curve migrated to; null for other pools. */
  migrated_to: string | null
  /** Address of the launch curve that migrated to this pool; null for other pools. */
  dbc_pool: string | null
  /** Genesis hash of the pool's chain. */
  genesis: Generated<string>
  /** Time of the next check; null once the pool can no longer change. */
  next_check_at: number | null
  /** Signing of the latest migration transaction, and its signature when known. */
  crank_signing: string | null
  crank_signature: string | null
  /** Number of failed migration transactions. */
  crank_failures: Generated<number>
  /** Why the last attempt failed or was refused; null if none did. */
  crank_error: string | null
  /** Time of the first of those failures. */
  crank_failed_at: Generated<number | null>
  /** Time at which this service submitted the pool's creation; null if it did not. */
  submitted_at: Generated<number | null>
  /** The transaction of that submission; null if the platform wallet signed it. */
  submitted_signature: Generated<string | null>
}

/** A raise that was built here, or whose pool or allowlist is kept here. */
interface RaisesTable extends Recorded {
  /** Address of the raise. */
  id: string
  /** Genesis hash of its chain. */
  genesis: string
  mint: string
  quote_mint: string
  creator: string
  /** `MULTISIG:INDEX` if the creator is the vault of a multisig of Squads; null for a wallet. */
  creator_vault: Generated<string | null>
  sale_mode: 'fixed_price' | 'pro_rata' | 'first_come'
  /** Amounts in digits, raw units. */
  min: string
  max: string
  supply: string
  /** Its state at the last look; `pending` until it is seen on chain. */
  state: 'pending' | 'not_started' | 'ongoing' | 'completed' | 'failed'
  deposited: Generated<string>
  ends_at: number
  /** Whether the creator has taken what was raised, or the tokens back. */
  withdrawn: Generated<0 | 1>
  /** Plan of its pool, as the request sent it; null without. */
  pool_json: string | null
  pool_address: Generated<string | null>
  /** Whether a worker settles it. */
  settle: Generated<0 | 1>
  /** Why the last settlement failed or was refused, and how many did one after another. */
  settle_error: Generated<string | null>
  settle_failures: Generated<number>
  /** Time of the first of those failures. */
  settle_failed_at: Generated<number | null>
  /** Signing of the latest settlement. */
  settle_signing: Generated<string | null>
  /** Time of the next look; null once nothing can change any more. */
  next_check_at: number | null
}

/** A stored allowlist. A raise has several if the later ones were stored after the root of the earlier was on chain. */
interface RaiseAllowlistsTable {
  raise_id: string
  /** Number of its root in the program. */
  version: number
  /** Merkle root in hex without a prefix. */
  root: string
  entries: number
  /** Sum of all caps as decimal digits. */
  total: string
  /** API key that stored it; null for the operator of this folder. */
  created_by: string | null
  created_at: number
}

/** Consecutive entries of an allowlist, with the way from their node to the root; see `src/merkle/allowlist.ts`. */
interface RaiseAllowlistPiecesTable {
  raise_id: string
  version: number
  n: number
  /** Wallet and registry of the first entry, in hex. */
  first_key: string
  entries: Buffer
  path: Buffer
}

/** Latest pool of each ticker; tickers are in upper case. */
interface TickersTable {
  symbol: string
  pool_address: string
  taken_at: number
}

/**
 * Config accounts shared by the launches of a preset, one for each content of the preset and each receiver of its fees.
 */
interface SharedConfigsTable {
  /** Genesis hash of the account's chain. */
  genesis: string
  /** Name of the preset. */
  preset: string
  /** SHA-256 in hex of what the account is created with: curve, fee claimer and leftover receiver. */
  content_sha256: string
  address: string
  /** Sealed secret key of the account's address; only this service can create the account there. */
  secret: Buffer
  /** SHA-256 in hex of the data that the program writes for this content. */
  data_sha256: string
  created_at: number
}

/** Position of an asset's last known change; an older confirmation that arrives later does not change the record. */
interface Placed {
  changed_slot: Generated<number>
  /** Order of the transaction among those submitted in the same slot; 0 for a state that was read from the chain. */
  changed_order: Generated<number>
}

interface NftsTable extends Recorded, Placed {
  asset: string
  collection: string
  owner: string | null
  name: string
  uri: string
  status: 'minted' | 'burned'
  frozen: number
}

interface StakesTable extends Recorded, Placed {
  asset: string
  collection: string
  owner: string | null
  status: 'unstaked' | 'staked' | 'burned'
  platform_id: string | null
  /** Address that can thaw the asset frozen by the last followed stake; null if no followed stake named one. */
  freeze_authority: string | null
  /** Position of the stake that set platform id, metadata and external uid, like `changed_slot` and `changed_order`. */
  said_slot: Generated<number>
  said_order: Generated<number>
}

interface GoldLocksTable extends Recorded {
  escrow: string
  user: string
  mint: string
  amount: string
  unlocks_at: number
  status: 'locked' | 'unlockable' | 'unlocked'
  /**
   * Signature and slot of the transaction that created the lock; needed because the wallet's next lock has the same
   * address.
   */
  signature: string
  slot: number
  /** Genesis hash of the lock's chain. */
  genesis: string
  /** Time of the next check whether the lock still exists, once it can be unlocked. */
  next_check_at: number | null
}

interface HolderSnapshotsTable extends Recorded {
  id: string
  /** The mint or the collection. */
  address: string
  mint: string | null
  collection: string | null
  token_program: 'spl' | 'token2022' | null
  decimals: number | null
  slot: number
  /** Unix milliseconds; null if the node did not know it. */
  block_time: number | null
  /** Amounts in raw units as digits; for a collection, numbers of assets. */
  supply: string
  withheld: string
  confidential: string
  /** Number of token accounts or assets that were read, and of addresses with a balance. */
  accounts: number
  holders: number
  /** Owners whose accounts were read. */
  owners: 'all' | 'off_curve'
  /** Holders and their amounts by kind. */
  kinds_json: string
  /** Programs that rows refer to by index. */
  programs_json: string
  pieces: number
  /** SHA-256 of all rows in hex. */
  holders_sha256: string
}

/** Packed rows of a snapshot, `n` from 0 on. */
interface HolderPiecesTable {
  snapshot_id: string
  n: number
  bytes: Buffer
}

/** Token images and metadata, if the setting `storage` is `database`. */
interface AssetsTable {
  cid: string
  /** Length in bytes. */
  length: number
  /** 1 once every piece is stored. */
  complete: Generated<number>
  /** Time at which the last upload began. */
  created_at: number
}

/** Bytes of an asset in pieces, numbered from 0. */
interface AssetPiecesTable {
  cid: string
  n: number
  bytes: Buffer
}

export interface ResourceTables {
  raises: RaisesTable
  raise_allowlists: RaiseAllowlistsTable
  raise_allowlist_pieces: RaiseAllowlistPiecesTable
  tokens: TokensTable
  pools: PoolsTable
  tickers: TickersTable
  shared_configs: SharedConfigsTable
  nfts: NftsTable
  stakes: StakesTable
  gold_locks: GoldLocksTable
  holder_snapshots: HolderSnapshotsTable
  holder_pieces: HolderPiecesTable
  assets: AssetsTable
  asset_pieces: AssetPiecesTable
}
