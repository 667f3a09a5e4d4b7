/** The content of a claim page's `airdrops.json`: its cluster, its airdrops with their hashes, and its index. */

import { canonicalRows, type EntryList, LOCKED_BYTES } from '../../merkle/entry-list.ts'
import { toHex } from '../../merkle/tree.ts'
import { printable, UNPRINTABLE } from '../../platform/printable.ts'
import { GENESIS_HASHES } from '../../solana/genesis-hashes.ts'
import { ENTRY_BYTES, type WalletBuckets } from './wallet-buckets.ts'

/** Name and version of the format, which also identify the folder of a page. */
export const PAGE_FORMAT = 'svc-claim-page/1'

/** Largest JSON file in bytes that the page reads. */
export const MOST_JSON_BYTES = 262_144

/** An airdrop of the page; amounts are raw units in digits. */
export interface SiteAirdrop {
  id: string
  mint: string
  airdrop_count: number
  distributor: string
  vault: string | null
  decimals: number
  symbol: string
  name: string
  /** Merkle root, hex. */
  root: string
  /** SHA-256 of the file list.bin, hex. */
  list_sha256: string
  leaf_count: number
  total: string
  total_locked: string
  /** Period in which the locked amounts vest; null without any, and before the airdrop is on chain. */
  starts_at: string | null
  ends_at: string | null
  clawback_at: string | null
}

export interface SiteCluster {
  genesis_hash: string
  name: 'mainnet' | 'devnet' | 'testnet' | 'localnet'
  /** The cluster's name in the Wallet Standard. */
  chain: `solana:${string}`
}

/** The cluster of a genesis hash; a chain that is not public is a local one. */
export function siteCluster(genesisHash: string): SiteCluster {
  const moniker = Object.keys(GENESIS_HASHES).find((name) => GENESIS_HASHES[name] === genesisHash) ?? 'localnet'
  const name = (moniker === 'mainnet-beta' ? 'mainnet' : moniker) as SiteCluster['name']
  return { genesis_hash: genesisHash, name, chain: `solana:${name}` }
}

/**
 * Name and symbol of a token for display. Metadata can contain anything: it is shortened, and what cannot be seen is
 * escaped. Without a symbol the ends of the mint's address replace it.
 */
export function tokenWords(mint: string, name: unknown, symbol: unknown): { name: string; symbol: string } {
  return { name: shortLine(name, 64), symbol: shortLine(symbol, 32) || `${mint.slice(0, 4)}…${mint.slice(-4)}` }
}

function shortLine(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value.slice(0, 4 * most).trim() : ''
  // A text without a visible character is not a name.
  if (text.replace(UNPRINTABLE, '').trim() === '') return ''
  return [...printable(text)].slice(0, most).join('')
}

/** An airdrop in the form of `airdrops.json`. */
const listed = (airdrop: SiteAirdrop) => ({
  ...airdrop,
  row_bytes: rowBytesOf(airdrop.total_locked !== '0'),
  block_rows: BLOCK_ROWS,
})

/** The text of `airdrops.json`. */
export function subjectText(cluster: SiteCluster, airdrops: readonly SiteAirdrop[], index: WalletBuckets): string {
  const { bits, root, count } = index
  const about = { bits, root: toHex(root), entry_bytes: ENTRY_BYTES, count }
  return `${JSON.stringify({ format: PAGE_FORMAT, cluster, airdrops: airdrops.map(listed), index: about })}\n`
}

/** The text of an airdrop's own `airdrop.json`, for other programs. */
export const airdropText = (cluster: SiteCluster, airdrop: SiteAirdrop): string =>
  `${JSON.stringify({ format: PAGE_FORMAT, cluster, ...listed(airdrop) }, undefined, 2)}\n`

export const RAISE_PAGE_FORMAT = 'svc-raise-page/1'

/** The text of `raise.json`; `vault` should hold the creator's key, which the page confirms on chain. */
export function raiseText(cluster: SiteCluster, raise: string, vault: SiteVault | null): string {
  return `${JSON.stringify({ format: RAISE_PAGE_FORMAT, cluster, raise, creator_vault: vault }, undefined, 2)}\n`
}

export interface SiteVault {
  multisig: string
  vault_index: number
}

/** Number of rows in a block. */
export const BLOCK_ROWS = 64
/** Levels of a tree that a reader hashes from the rows of a block. */
const BLOCK_LEVELS = 6

/** The number of blocks of a tree. */
export const blockCount = (leaves: number): number => Math.ceil(leaves / BLOCK_ROWS)

/** The size of a row in bytes: wallet 32 ‖ amount u64 LE, and the locked amount u64 LE if the list has any. */
const rowBytesOf = (hasLocked: boolean): 40 | 48 => (hasLocked ? 48 : 40)

/**
 * Encodes the block with the rows `from` to `from + 63` of `list`, or to its end: the rows, then the siblings above the
 * block up to the root. `proof` is the proof (leaf to root) of the block's first row in the whole tree.
 */
export function encodeBlock(list: EntryList, from: number, proof: readonly Uint8Array[], hasLocked: boolean): Buffer {
  const to = Math.min(list.count, from + BLOCK_ROWS)
  // A part of a list with locked amounts has their column even if its own are all 0.
  const locked = list.locked ?? (hasLocked ? new Uint8Array(list.count * LOCKED_BYTES) : undefined)
  const rows = canonicalRows(locked === undefined ? list : { ...list, locked }, from, to)
  return Buffer.concat([rows, ...proof.slice(BLOCK_LEVELS)])
}
