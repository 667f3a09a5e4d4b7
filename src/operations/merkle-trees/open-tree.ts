/** Names stored trees, and opens one for reading: its row, its head and its parts. */

import type { Context } from '../../context.ts'
import { keyFromBase58 } from '../../merkle/base58.ts'
import { LeafLayoutError } from '../../merkle/errors.ts'
import { openHead, type ReadBlob, type TreeHead } from '../../merkle/stored-tree.ts'
import { hashFromHex } from '../../merkle/tree.ts'
import { encodeTreeId } from '../../merkle/tree-id.ts'
import { type ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { findTree, readBlob } from '../../store/airdrops/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import { requireRecord } from '../api-records.ts'

/** Returns the 32 bytes of an address. Throws a plain Error, because the text was validated before. */
export function keyBytesOf(address: string): Uint8Array {
  const bytes = keyFromBase58(address)
  if (bytes === undefined) throw new Error(`${address} was taken for an address`)
  return bytes
}

/** Returns the 32 bytes of a hash in hex. Throws a plain Error, because the text was validated before. */
export function hashBytesOf(hex: string): Uint8Array {
  const bytes = hashFromHex(hex)
  if (bytes === undefined) throw new Error(`${hex} was taken for a SHA-256 in hex`)
  return bytes
}

/** Returns the id of the tree that belongs to an airdrop of the mint. */
export const treeIdOf = (mint: string, airdropCount: number): string => encodeTreeId(keyBytesOf(mint), airdropCount)

/** Opens a stored tree for reading: its row, its head and its parts. */
interface OpenTree {
  row: Row<'merkle_trees'>
  head: TreeHead
  read: ReadBlob
}

/** Opens the tree and reads from it. Throws not_found without its leaves, bad_request when its bytes do not match its root. */
export async function withTree<T>(context: Context, id: string, use: (tree: OpenTree) => Promise<T>): Promise<T> {
  return withRow(context, requireRecord(await findTree(context.store.db, id), 'merkle tree', id), use)
}

/** Opens and reads a tree whose row has already been read. Throws like `withTree`. */
export async function withRow<T>(
  { store }: Pick<Context, 'store'>,
  row: Row<'merkle_trees'>,
  use: (tree: OpenTree) => Promise<T>,
): Promise<T> {
  const { id } = row
  if (row.leaves_removed_at !== null) throw leavesRemoved(row)
  const read: ReadBlob = async (kind, n) => (await readBlob(store.db, id, kind, n)) ?? undefined
  try {
    const bytes = await read('head', 0)
    if (bytes === undefined) throw new LeafLayoutError('the head is missing')
    return await use({ row, head: openHead(bytes, hashFromHex(row.root)), read })
  } catch (error) {
    if (!(error instanceof LeafLayoutError)) throw error
    throw badRequest(
      `The stored leaves of the merkle tree ${id} do not match its root; build it again with replace: true`,
      { cause: error },
    )
  }
}

const leavesRemoved = ({ id, leaves_removed_at }: Row<'merkle_trees'>): ApiError =>
  notFound(
    `The leaves of the merkle tree ${id} were removed on ${new Date(leaves_removed_at ?? 0).toISOString()}, because its airdrop was drained (retention.trees-days): store the list again with replace: true to read proofs`,
  )
