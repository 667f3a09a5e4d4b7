/** The allowlist of a raise: its entries in the order of wallet and round, their tree, and the pieces that proofs are read from. */

import { isThisMachine, parseUrl } from '../platform/urls.ts'
import type { RaiseRound } from '../solana/raises.ts'
import { amountFrom, writeAmount } from './amounts.ts'
import { keyToBase58 } from './base58.ts'
import { RECORD_BYTES } from './entry-list.ts'
import { LeafLayoutError } from './errors.ts'
import type { SettledRows } from './row-builder.ts'
import {
  bufferOf,
  hashRecord,
  type MerkleTree,
  NODE_BYTES,
  rootOfRecord,
  siblings,
  type TreeLevels,
  treeOver,
} from './tree.ts'

/** Size of an entry: wallet 32 ‖ registry u8 ‖ cap u64 LE. The leaf is its hash; a registry is a round, from 0. */
const ENTRY_BYTES = 41
const KEY_BYTES = 33
/** Number of entries in a piece, and of the tree's levels above them that it proves by itself. */
const PIECE_ENTRIES = 256
const PIECE_LEVELS = 8

/** Packed entries; each pair of wallet and round is there once. */
interface Allowlist {
  readonly count: number
  readonly bytes: Buffer
}

export type AllowlistTree = Omit<MerkleTree, 'list'> & { readonly list: Allowlist }

/** What a wallet may pay in a round, in base units of the quote token. */
interface Allowance {
  wallet: string
  /** From 1, as people count; the program counts registries from 0. */
  round: number
  cap: bigint
}

/** Sorts the rows of a reader, so that the order of a file does not change the root. */
export function allowlistOf({ list, rounds }: SettledRows): Allowlist {
  const entries = Array.from({ length: list.count }, (_, i) => {
    const record = list.bytes.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES)
    return Buffer.concat([record.subarray(0, 32), Buffer.of((rounds?.[i] ?? 1) - 1), record.subarray(32)])
  })
  return { count: list.count, bytes: Buffer.concat(entries.sort(Buffer.compare)) }
}

const entryBytes = (bytes: Buffer, index: number): Buffer =>
  bytes.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES)

function allowanceOf(entry: Buffer): Allowance {
  return { wallet: keyToBase58(entry), round: (entry[32] ?? 0) + 1, cap: amountFrom(entry, KEY_BYTES) }
}

export const allowanceAt = ({ bytes }: Allowlist, index: number): Allowance => allowanceOf(entryBytes(bytes, index))

/** Builds the tree of a list with at least one entry. Source: the presale program (presSV…), whose nodes are Jito's. */
export const allowlistTree = (list: Allowlist): AllowlistTree => ({ list, ...treeOf(list) })

const treeOf = ({ count, bytes }: Allowlist, levels?: number) =>
  treeOver(count, (i, out, at) => hashRecord(entryBytes(bytes, i), out, at), undefined, levels)

/** The allowances of one round. */
interface RoundSummary {
  round: number
  wallets: number
  least: Allowance
  most: Allowance
  total: bigint
}

export interface AllowlistSummary {
  rounds: RoundSummary[]
  /** Number of wallets that are in more than one round, and the first of them. */
  repeated: number
  firstRepeated: string | null
}

export function allowlistSummary(list: Allowlist): AllowlistSummary {
  const rounds = new Map<number, RoundSummary>()
  const repeated = new Set<string>()
  let before: string | undefined
  for (let i = 0; i < list.count; i++) {
    const one = allowanceAt(list, i)
    const round = rounds.get(one.round) ?? { round: one.round, wallets: 0, least: one, most: one, total: 0n }
    round.wallets++
    round.total += one.cap
    if (one.cap < round.least.cap) round.least = one
    if (one.cap > round.most.cap) round.most = one
    rounds.set(one.round, round)
    // Entries of a wallet follow each other.
    if (before === one.wallet) repeated.add(one.wallet)
    before = one.wallet
  }
  const [firstRepeated = null] = repeated
  return { rounds: [...rounds.values()].sort((a, b) => a.round - b.round), repeated: repeated.size, firstRepeated }
}

/** Why the program would refuse wallets of a list (6037, 6039), and in which round; null if it would not. */
export function capFault(
  summary: AllowlistSummary,
  bounds: readonly Pick<RaiseRound, 'buyerMin' | 'buyerMax'>[],
): { round: number; message: string } | null {
  for (const { round, least, most } of summary.rounds) {
    const bound = bounds[round - 1]
    if (bound === undefined) {
      const there = bounds.length === 1 ? 'one round' : `${bounds.length} rounds`
      return { round, message: `${most.wallet} is in round ${round}, and the raise has ${there}` }
    }
    const said = ({ wallet, cap }: Allowance) => `the cap ${cap} (raw units) of ${wallet} in round ${round}`
    if (least.cap < bound.buyerMin)
      return { round, message: `${said(least)} is below ${bound.buyerMin}, the least that a buyer pays: raise it` }
    if (most.cap > bound.buyerMax)
      return { round, message: `${said(most)} is above ${bound.buyerMax}, the most that the raise takes: lower it` }
  }
  return null
}

/** Says aloud that caps of one wallet add up; empty if no wallet is in two rounds. */
export function repeatedWarnings({ repeated, firstRepeated }: AllowlistSummary): string[] {
  if (firstRepeated === null) return []
  const [wallets, their] = repeated === 1 ? ['wallet is', 'its'] : ['wallets are', 'their']
  return [`${repeated} ${wallets} in more than one round, where ${their} caps add up: ${firstRepeated}`]
}

/** Consecutive entries with the way from the node above them to the root; enough for the proof of each. */
export interface AllowlistPiece {
  n: number
  /** Wallet and registry of the first entry, in hex. */
  first: string
  entries: Uint8Array
  /** Sibling hashes, bottom to top. */
  path: Uint8Array
}

/** Yields the pieces of a tree. */
export function* piecesOf(tree: AllowlistTree): Generator<AllowlistPiece> {
  const { nodes, counts, offsets, list } = tree
  const depth = Math.min(PIECE_LEVELS, counts.length - 1)
  const upper: TreeLevels = { nodes, counts: counts.slice(depth), offsets: offsets.slice(depth) }
  for (let n = 0; n * PIECE_ENTRIES < list.count; n++) {
    const entries = list.bytes.subarray(n * PIECE_ENTRIES * ENTRY_BYTES, (n + 1) * PIECE_ENTRIES * ENTRY_BYTES)
    const path = Buffer.concat(siblings(upper, n))
    yield { n, first: entries.toString('hex', 0, KEY_BYTES), entries, path }
  }
}

/** The key of an entry in hex; entries and pieces are in the order of these texts. */
export const entryKey = (wallet: Uint8Array, round: number): string =>
  Buffer.concat([wallet, Buffer.of(round - 1)]).toString('hex')

export interface AllowanceProof extends Allowance {
  /** Sibling hashes from leaf to root. */
  proof: Uint8Array[]
}

/**
 * Returns the proof of an entry, or undefined if the piece does not have it; it takes about 1 ms. Throws
 * LeafLayoutError if the piece does not lead to the root (32 bytes), so that a wrong proof is never returned.
 */
export function proofIn(piece: Pick<AllowlistPiece, 'entries' | 'path'>, key: string, root: Uint8Array) {
  const entries = bufferOf(piece.entries)
  const { path } = piece
  const count = entries.length / ENTRY_BYTES
  if (!Number.isInteger(count) || path.length % NODE_BYTES !== 0)
    throw new LeafLayoutError(`a piece of an allowlist has ${entries.length} bytes`)
  let index = 0
  while (index < count && entryBytes(entries, index).toString('hex', 0, KEY_BYTES) !== key) index++
  if (index === count) return undefined
  const entry = entryBytes(entries, index)
  const proof = siblings(treeOf({ count, bytes: entries }, path.length > 0 ? PIECE_LEVELS : undefined), index)
  for (let at = 0; at < path.length; at += NODE_BYTES) proof.push(new Uint8Array(path.subarray(at, at + NODE_BYTES)))
  if (!rootOfRecord(entry, proof).equals(root))
    throw new LeafLayoutError('a piece of an allowlist does not lead to its root')
  return { ...allowanceOf(entry), proof } satisfies AllowanceProof
}

/** The root to which a proof leads from an allowance; the wallet is 32 bytes. */
export function provenAllowance(
  { wallet, round, cap }: { wallet: Uint8Array; round: number; cap: bigint },
  proof: readonly Uint8Array[],
): Buffer {
  const entry = Buffer.concat([wallet, Buffer.of(round - 1)], ENTRY_BYTES)
  writeAmount(entry, KEY_BYTES, cap)
  return rootOfRecord(entry, proof)
}

/** The proof of an entry of a whole tree. */
export const allowanceProofAt = (tree: AllowlistTree, index: number): AllowanceProof => ({
  ...allowanceAt(tree.list, index),
  proof: siblings(tree, index),
})

/** The first entry of `before` that `after` lacks, or has with a smaller cap; undefined if there is none. */
export function firstLost(before: Buffer, after: Buffer): Allowance | undefined {
  let at = 0
  for (let i = 0; i < before.length; i += ENTRY_BYTES) {
    while (at < after.length && after.compare(before, i, i + KEY_BYTES, at, at + KEY_BYTES) < 0) at += ENTRY_BYTES
    const isThere = at < after.length && after.compare(before, i, i + KEY_BYTES, at, at + KEY_BYTES) === 0
    if (!isThere || amountFrom(after, at + KEY_BYTES) < amountFrom(before, i + KEY_BYTES))
      return allowanceOf(before.subarray(i, i + ENTRY_BYTES))
  }
  return undefined
}

/** The answer that clients of the program read: `merkle_root_config` is the address of the root's account. */
export function proofText(config: string, { cap, proof }: Pick<AllowanceProof, 'cap' | 'proof'>): string {
  // Clients take a number or digits, and a number is exact only up to 2^53 - 1.
  const deposit_cap = cap <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(cap) : String(cap)
  return JSON.stringify({ merkle_root_config: config, deposit_cap, proof: proof.map((sibling) => [...sibling]) })
}

const MOST_URL_BYTES = 256
export const PROOFS_URL_RULE = `must be an https URL of at most ${MOST_URL_BYTES} characters without query, fragment and credentials, as browsers write it; http only for this machine`

/** Where proofs are, without a slash at the end, as it is written on chain; null for a text that must not be. */
export function proofsUrl(text: string): string | null {
  const url = parseUrl(text)
  if (url === undefined || text.length > MOST_URL_BYTES) return null
  const plain = text.replace(/\/+$/, '')
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url.hostname))
  const isBare = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
  return isSafe && isBare && url.href.replace(/\/+$/, '') === plain ? plain : null
}
