/** Storage of merkle trees and of the bytes from which their proofs are read. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { badRequest } from '../../platform/errors.ts'
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

/** A piece of a tree; `n` numbers the pieces of one `kind`. */
interface TreeBlob {
  kind: string
  n: number
  bytes: Uint8Array
}

/** Number of rows per insert, which saves round trips and stays far below the parameter limits of both databases. */
const BLOBS_PER_INSERT = 64

const insertRow = inserting('merkle_trees')
export const findTree = finding('merkle_trees', 'id')
const updateTree = updating('merkle_trees', 'id')
/** Returns the row and locks it until the commit; an update that changes nothing does so on both databases. */
export const lockTree = (tx: Tx, id: string) => updateTree(tx, id, { id })
export const pageTrees = listing('merkle_trees', ['mint'], { weights: { metadata_json: 1 } })

/** Stores a tree with all its pieces. A duplicate id makes `write` fail with `Overtaken`. */
export async function insertTree(
  tx: Tx,
  row: NewRow<'merkle_trees'>,
  blobs: Iterable<TreeBlob>,
): Promise<Row<'merkle_trees'>> {
  const inserted = await insertRow(tx, row)
  await insertBlobs(tx, row.id, blobs)
  return inserted
}

/**
 * Replaces a tree under the same id and the same position in lists. Throws `bad_request` unless the stored tree has the
 * status and the genesis hash of `from`.
 */
export async function replaceTree(
  tx: Tx,
  row: NewRow<'merkle_trees'>,
  blobs: Iterable<TreeBlob>,
  from: Pick<Row<'merkle_trees'>, 'status' | 'genesis'> = { status: 'tree_built', genesis: '' },
): Promise<Row<'merkle_trees'>> {
  const { seq: _, ...columns } = row
  const replaced = await tx
    .updateTable('merkle_trees')
    .set({ ...columns, ...STORED_ANEW, genesis: '' })
    .where('id', '=', row.id)
    .where('status', '=', from.status)
    .where('genesis', '=', from.genesis)
    .returningAll()
    .executeTakeFirst()
  if (!replaced) throw badRequest(`the tree ${row.id} cannot be replaced: it does not exist, or it is already on chain`)
  await restoreBlobs(tx, row.id, blobs)
  return replaced
}

/** Columns of a tree whose leaves are stored again, so that its age starts from zero. */
const STORED_ANEW = { drained_at: null, leaves_removed_at: null }

/** Rewrites the pieces of an unchanged tree, even after they were removed. */
export async function restoreBlobs(tx: Tx, treeId: string, blobs: Iterable<TreeBlob>): Promise<void> {
  await tx.updateTable('merkle_trees').set(STORED_ANEW).where('id', '=', treeId).execute()
  await tx.deleteFrom('merkle_blobs').where('tree_id', '=', treeId).execute()
  await insertBlobs(tx, treeId, blobs)
}

export async function readBlob(reader: Reader, treeId: string, kind: string, n: number): Promise<Buffer | null> {
  const row = await reader
    .selectFrom('merkle_blobs')
    .select('bytes')
    .where('tree_id', '=', treeId)
    .where('kind', '=', kind)
    .where('n', '=', n)
    .executeTakeFirst()
  return row?.bytes ?? null
}

async function insertBlobs(tx: Tx, treeId: string, blobs: Iterable<TreeBlob>): Promise<void> {
  let rows: NewRow<'merkle_blobs'>[] = []
  const flush = async () => {
    if (rows.length > 0) await tx.insertInto('merkle_blobs').values(rows).execute()
    rows = []
  }
  for (const { kind, n, bytes } of blobs) {
    rows.push({ tree_id: treeId, kind, n, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
    if (rows.length < BLOBS_PER_INSERT) continue
    await flush()
    // Synchronous SQLite blocks requests while it works, so this yields to them.
    await nextTurn()
  }
  await flush()
}
