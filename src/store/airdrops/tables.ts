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
  /** API key that stored the tree; null for trees of an earlier version. */
  created_by: Generated<string | null>
  /** Airdrop lifecycle; `tree_built` until a distributor is found on chain. */
  status: 'tree_built' | 'initialized' | 'claiming' | 'fully_claimed' | 'vault_drained'
  /** Address of the airdrop's account on any chain; null for trees of an earlier version until their next check. */
  distributor: string | null
  /** Genesis hash of the chain on which `status` was observed; empty while it is `tree_built`. */
  genesis: Generated<string>
  /** Time of the next check of the distributor; null once no further change is possible. */
  next_check_at: number | null
  /** Time at which housekeeping first found the vault drained; null before, and after the leaves were removed. */
  drained_at: Generated<number | null>
  /** Time at which the leaves were removed; null while proofs can be read. */
  leaves_removed_at: Generated<number | null>
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
  /** `claim` is the first of a wallet, `claim_locked` each later one of what has vested. */
  kind: 'claim' | 'claim_locked'
  /** Raw units that were not locked, and those that were; the claim has paid both. */
  amount: string
  amount_locked: string
  /** Both together in 20 digits, so that text has the order of numbers. */
  size: string
  signature: string
  slot: number
  claimed_at: number
  /** Empty for the first claim, of which a wallet has one; the signature of a later one. */
  dedupe_by: string
}

/** What the claims of an airdrop in one hour (counted from 1970) sum to, in parts as amounts are. */
interface AirdropClaimTotalsTable {
  genesis: string
  airdrop_id: string
  hour: number
  claims: number
  /** First claims, each of another wallet. */
  wallets: number
  amount_high: number
  amount_low: number
  locked_high: number
  locked_low: number
}

/** What is known of all claims of an airdrop; the median is the claim at the lower middle of the order by size and place. */
interface AirdropClaimFiguresTable {
  genesis: string
  airdrop_id: string
  claims: number
  median_size: string | null
  median_seq: number | null
  first_at: number | null
  last_at: number | null
}

/** What the platform wallet may pay for the claims of one airdrop, and what of it is used. */
interface SponsorshipsTable {
  seq: Generated<number>
  airdrop_id: string
  /** Root of the tree whose claims are paid for; a sponsorship has ended where the stored tree has another one. */
  root: string
  /** 1 while claims are paid for. */
  enabled: number
  /** Lamports that may leave in all. */
  budget: string
  /** Lamports of claims that are under way or have landed, and the fees of those that have failed. */
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
  /** The network fee among them, which a failed transaction costs too. */
  fee: string
  status: 'signing' | 'submitted' | 'landed' | 'failed' | 'expired'
  /** 1 while the wallet gets no other: until it has failed or expired. */
  live: number
  created_at: number
  /** Null until its end is known. */
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
