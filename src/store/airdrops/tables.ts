/** Tables of airdrops: trees, claims with their totals, and sponsorships. */
import type { Generated } from 'kysely'
import type { Recorded } from '../queries/recorded.ts'

interface MerkleTreesTable extends Recorded {
  id: string
  mint: string
  airdrop_count: number
  /** Merkle root in hex without a prefix. */
  root: string
  leaf_count: number
  /** Sum of all amounts, locked ones included, as decimal digits. */
  total: string
  /** Sum of the locked amounts as decimal digits. */
  total_locked: Generated<string>
  list_sha256: string
  /** API key that stored the tree; null if it is not recorded. */
  created_by: Generated<string | null>
  /** Airdrop lifecycle; `tree_built` until a distributor is found on chain. */
  status: 'tree_built' | 'initialized' | 'claiming' | 'fully_claimed' | 'vault_drained'
  /** Address of the airdrop's account on any chain; null until its first check. */
  distributor: string | null
  /** Genesis hash of the chain on which `status` was observed; empty while it is `tree_built`. */
  genesis: Generated<string>
  /** Time of the next check of the distributor; null once no further change is possible. */
  next_check_at: number | null
  /** Time at which housekeeping first found the vault drained; null before, and after the leaves were removed. */
  drained_at: Generated<number | null>
  /** Time at which the leaves were removed; null while proofs can be read. */
  leaves_removed_at: Generated<number | null>
  /** Raw units that the vault lacked at the last look for what can still be claimed; null for none. */
  vault_lacks: Generated<string | null>
  /** Time of the first look at which it lacked some. */
  vault_lacks_since: Generated<number | null>
  /** Decimals of the mint; read once the vault lacks some. */
  mint_decimals: Generated<number | null>
}

/** Bytes of a stored tree, split into pieces so that one proof reads little; see `src/merkle`. */
interface MerkleBlobsTable {
  tree_id: string
  kind: string
  n: number
  bytes: Buffer
}

/** A claim that a confirmed transaction has made. */
interface AirdropClaimsTable {
  seq: Generated<number>
  genesis: string
  airdrop_id: string
  wallet: string
  /** `claim` is a wallet's first claim, `claim_locked` each later claim of vested tokens. */
  kind: 'claim' | 'claim_locked'
  /** Raw units that were not locked, and those that were; the claim has paid both. */
  amount: string
  amount_locked: string
  /** The sum of both in 20 digits, so that texts sort like numbers. */
  size: string
  signature: string
  slot: number
  claimed_at: number
  /** Empty for a wallet's only first claim; the signature of a later one. */
  dedupe_by: string
}

/** Totals of an airdrop's claims in one hour (counted from 1970), in parts like other amounts. */
interface AirdropClaimTotalsTable {
  genesis: string
  airdrop_id: string
  hour: number
  claims: number
  /** Number of first claims, each of a different wallet. */
  wallets: number
  amount_high: number
  amount_low: number
  locked_high: number
  locked_low: number
}

/** Facts about all claims of an airdrop. The median is the claim at the lower middle of the order by size and place. */
interface AirdropClaimFiguresTable {
  genesis: string
  airdrop_id: string
  claims: number
  median_size: string | null
  median_seq: number | null
  first_at: number | null
  last_at: number | null
}

/** The budget of the platform wallet for the claims of one airdrop, and its use. */
interface SponsorshipsTable {
  seq: Generated<number>
  airdrop_id: string
  /** Root of the tree whose claims are paid for. If the stored tree has another root, the sponsorship has ended. */
  root: string
  /** 1 while claims are paid for. */
  enabled: number
  /** Budget in lamports. */
  budget: string
  /** Lamports of claims that are pending or have landed, and the fees of failed ones. */
  used: string
  created_by: string
  updated_by: string
  created_at: number
  updated_at: number
}

/** A claim that the platform wallet pays for, from its reservation on. */
interface SponsoredClaimsTable {
  seq: Generated<number>
  id: string
  airdrop_id: string
  wallet: string
  genesis: string
  signing_id: string
  /** Null until the platform wallet has signed. */
  signature: string | null
  /** Lamports that leave the platform wallet: fee and rent. */
  lamports: string
  /** The part that is the network fee, which a failed transaction costs too. */
  fee: string
  status: 'signing' | 'submitted' | 'landed' | 'failed' | 'expired'
  /** 1 while the wallet can get no other claim: until this one has failed or expired. */
  live: number
  created_at: number
  /** Null until its result is known. */
  settled_at: number | null
}

export interface AirdropTables {
  merkle_trees: MerkleTreesTable
  merkle_blobs: MerkleBlobsTable
  airdrop_claims: AirdropClaimsTable
  airdrop_claim_totals: AirdropClaimTotalsTable
  airdrop_claim_figures: AirdropClaimFiguresTable
  sponsorships: SponsorshipsTable
  sponsored_claims: SponsoredClaimsTable
}
