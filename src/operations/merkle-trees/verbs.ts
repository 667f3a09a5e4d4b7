/** Stored merkle trees: build, read, list, and prove entries. */
import type { z } from 'zod'
import type { Api, MerkleEntry } from '../../api/index.ts'
import { merkleTrees, type TreeCreated, type TreeRecord } from '../../api/merkle-trees.ts'
import type { Input, Result } from '../../api/route.ts'
import { distributorAddress } from '../../chain/programs/merkle-distributor/index.ts'
import type { Context, Services } from '../../context.ts'
import type { BuiltTree } from '../../merkle/built-tree.ts'
import { entryAt } from '../../merkle/entry-list.ts'
import { MerkleInputError } from '../../merkle/errors.ts'
import { TreePoolBusyError } from '../../merkle/pool.ts'
import { blobsOf, CHUNK_LEAVES, type LeafChunk, leafChunkOf, lookUpProof, readChunk } from '../../merkle/stored-tree.ts'
import { toHex } from '../../merkle/tree.ts'
import { badRequest, internal, notFound } from '../../platform/errors.ts'
import {
  findTree,
  insertTree,
  lockTree,
  pageTrees,
  replaceTree,
  restoreBlobs,
} from '../../store/airdrops/merkle-trees.ts'
import { writeEvent } from '../../store/events/drafts.ts'
import { newId } from '../../store/id.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import type { NewRow, Row } from '../../store/schema.ts'
import { listOf, merkleTreeRecord, oneOf } from '../api-records.ts'
import { keyBytesOf, treeIdOf, withTree } from './open-tree.ts'
import { auditReplacement, readTreeDistributor, requireReplaceable } from './replaced-tree.ts'

type Routes = Api['merkleTrees']

const { body } = merkleTrees.create
if (body === undefined) throw new Error('the route that creates merkle trees has no body')
/** The schema of all fields except the entries, which the worker has validated. */
export const treeFields = body.omit({ entries: true })
export type TreeInput = z.output<typeof treeFields> & { built: BuiltTree }

/** Validates the entries and builds the tree off the event loop. The bytes are transferred to the worker. */
export const buildTreeFromBody = ({ trees }: Services, raw: Uint8Array<ArrayBuffer>): Promise<BuiltTree> =>
  throwingTreeFaults(() => trees.buildFromRequest(raw))

/** Throws the faults of a list as bad_request. */
export async function throwingTreeFaults<T>(build: () => Promise<T>): Promise<T> {
  try {
    return await build()
  } catch (error) {
    throw treeError(error)
  }
}

const MAX_TREE_ISSUES = 20

function treeError(error: unknown): unknown {
  if (error instanceof TreePoolBusyError) return internal(error.message)
  if (!(error instanceof MerkleInputError)) return error
  const issues = error.issues.slice(0, MAX_TREE_ISSUES).map(({ position, message }) => ({ param: position, message }))
  const [{ param, message } = { param: '', message: error.message }] = issues
  return badRequest(param === '' ? message : `${param}: ${message}`, {
    ...(param === '' ? {} : { param }),
    details: { issues, issue_count: error.issueCount },
  })
}

export async function createMerkleTree(context: Context, input: TreeInput): Promise<TreeCreated> {
  const { warnings } = input.built
  return { ...(await storeBuiltTree(context, input)), ...(warnings.length === 0 ? {} : { warnings }) }
}

async function storeBuiltTree(context: Context, input: TreeInput): Promise<TreeRecord> {
  const { built, mint, airdrop_count } = input
  const id = treeIdOf(mint, airdrop_count)
  const fields = {
    id,
    mint,
    airdrop_count,
    root: built.root,
    leaf_count: built.leafCount,
    total: built.total.toString(),
    total_locked: built.totalLocked.toString(),
    list_sha256: built.listHash,
    created_by: context.actor.apiKeyId,
    status: 'tree_built',
    external_uid: context.externalUid ?? null,
    metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
    created_at: context.clock.now(),
  } as const
  if (!input.persist) {
    context.status = 200
    return { ...merkleTreeRecord(fields), persisted: false, created_by: null, created_at: null }
  }
  const distributor = distributorAddress({ mint, airdropCount: airdrop_count })
  const row: NewRow<'merkle_trees'> = { ...fields, distributor, next_check_at: context.clock.now() }
  if (built.encoded === undefined) throw new Error('the tree was built without the pieces to store')
  const blobs = [...blobsOf(built.encoded)]
  const known = await findTree(context.store.db, id)
  const chain =
    input.replace && known !== null && known.root !== built.root
      ? await readTreeDistributor(context, distributor)
      : null
  return context.commit(async (tx) => {
    const existing = await lockTree(tx, id)
    if (existing?.root === built.root) {
      context.status = 200
      const sameList = existing.list_sha256 === built.listHash
      // With the same list, `replace` repairs leaves that were damaged on disk.
      if (input.replace && sameList) await restoreBlobs(tx, id, blobs)
      return merkleTreeRecord(existing)
    }
    if (existing !== null) {
      await requireReplaceable(context, tx, existing, { root: built.root, replace: input.replace, chain })
      await auditReplacement(context, tx, existing, fields)
    }
    const stored = existing === null ? await insertTree(tx, row, blobs) : await replaceTree(tx, row, blobs, existing)
    const record = merkleTreeRecord(stored)
    await writeEvent(tx, context.clock, {
      type: 'airdrop.tree_built',
      resource_type: 'airdrop',
      resource_id: id,
      object: { ...record, status: stored.status },
      dedupe_by: newId('tree'),
      origin: fields,
    })
    return record
  })
}

export const getMerkleTree = oneOf<Routes['get'], Row<'merkle_trees'>>('merkle tree', findTree, merkleTreeRecord)

export const listMerkleTrees = listOf<Routes['list'], Row<'merkle_trees'>>(pageTrees, merkleTreeRecord)

/** Returns the merkle proof of one wallet from the stored tree. */
export function getProof(context: Context, { id, wallet }: Input<Routes['proof']>): Promise<Result<Routes['proof']>> {
  return withTree(context, id, async ({ row, head, read }) => {
    const proof = await lookUpProof(head, keyBytesOf(wallet), read)
    if (proof === undefined) throw notFound(`The wallet ${wallet} is not in the merkle tree ${id}`)
    return {
      wallet,
      mint: row.mint,
      amount: proof.amount.toString(),
      amount_locked: proof.locked.toString(),
      root: row.root,
      proof: proof.proof.map((sibling) => toHex(sibling)),
    }
  })
}

/** Lists the wallets and amounts of a stored tree in leaf order. Every chunk read is checked against the root. */
export function listEntries(
  context: Context,
  { id, limit, cursor }: Input<Routes['entries']>,
): Promise<Result<Routes['entries']>> {
  return withTree(context, id, async ({ row, head, read }) => {
    // The root is part of the name, so that a cursor of a replaced tree cannot continue in the other list.
    const list = `merkle_entries:${id}:${row.root}`
    const from = cursor === undefined ? 0 : decodeCursor(list, cursor)
    const to = Math.min(from + limit, head.count)
    const items: MerkleEntry[] = []
    let chunk: LeafChunk | undefined
    for (let index = from; index < to; index++) {
      const n = leafChunkOf(index)
      if (chunk?.n !== n) chunk = await readChunk(head, n, read)
      const { wallet, amount, locked } = entryAt(chunk.list, index - n * CHUNK_LEAVES)
      items.push({ wallet, amount: amount.toString(), amount_locked: locked.toString() })
    }
    return { items, next_cursor: to < head.count ? encodeCursor(list, to) : null }
  })
}
