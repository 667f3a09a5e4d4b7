/** The record of a locally built tree, in the shape of the API's record of a stored one. */
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { keyFromBase58, walletFault } from '../../src/merkle/base58.ts'
import { type EntryList, listHash, totalAmount, totalLocked } from '../../src/merkle/entry-list.ts'
import { hashFromHex, toHex } from '../../src/merkle/tree.ts'
import { encodeTreeId } from '../../src/merkle/tree-id.ts'
import { usage } from '../ui/problem.ts'

/** A list and the root of its tree; a whole tree has both. */
export interface RootedList {
  readonly list: EntryList
  /** Merkle root of 32 bytes. */
  readonly root: Uint8Array
}

export function builtTreeRecord(tree: RootedList, mint: string, airdropCount: number): TreeRecord {
  const root = toHex(tree.root)
  return {
    id: encodeTreeId(readKey(mint, '--mint'), airdropCount),
    mint,
    airdrop_count: airdropCount,
    root,
    root_hex: `0x${root}`,
    leaf_count: tree.list.count,
    total: String(totalAmount(tree.list)),
    total_locked: String(totalLocked(tree.list)),
    list_sha256: listHash(tree.list),
    persisted: false,
    created_by: null,
    created_at: null,
  }
}

/** The 32 bytes of an address; throws a usage problem that names `where`. */
export function readKey(text: string, where: string): Uint8Array {
  const key = keyFromBase58(text)
  if (key === undefined) throw usage(`${where}: ${walletFault(text)}`, { param: where })
  return key
}

/** The 32 bytes of a hash in hex; throws a usage problem that names `where`. */
export function readHash(text: unknown, where: string): Uint8Array {
  const hash = typeof text === 'string' ? hashFromHex(text.trim()) : undefined
  if (hash === undefined) throw usage(`${where} must be 32 bytes in hex`, { param: where })
  return hash
}
