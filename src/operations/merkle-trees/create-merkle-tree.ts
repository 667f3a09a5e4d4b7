/** Builds a tree from the raw request body in the worker thread, and stores it with its event. */
import type { z } from 'zod'
import { merkleTrees, type TreeRecord } from '../../api/merkle-trees.ts'
import {
  type Distributor,
  distributorAddress,
  readDistributors,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Context, Services } from '../../context.ts'
import { type ApiError, badRequest, conflict, internal } from '../../errors.ts'
import type { BuiltTree } from '../../merkle/built-tree.ts'
import { MerkleInputError } from '../../merkle/errors.ts'
import { TreePoolBusyError } from '../../merkle/pool.ts'
import { blobsOf } from '../../merkle/stored-tree.ts'
import { writeEvent } from '../../store/event-drafts.ts'
import { newId } from '../../store/id.ts'
import { findTree, insertTree, replaceTree, restoreBlobs } from '../../store/merkle-trees.ts'
import type { NewRow, Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { pendingTransactions } from '../airdrops/pending-transactions.ts'
import { merkleTreeRecord } from '../api-records.ts'
import { treeIdOf } from './tree-keys.ts'

const { body } = merkleTrees.create
if (body === undefined) throw new Error('the route that creates merkle trees has no body')
/** The schema of all fields except the entries, which the worker has validated. */
export const treeFields = body.omit({ entries: true })
export type TreeInput = z.output<typeof treeFields> & { built: BuiltTree }

/** Validates the entries and builds the tree off the event loop. The bytes are transferred to the worker. */
export async function buildTreeFromBody({ trees }: Services, raw: Uint8Array<ArrayBuffer>): Promise<BuiltTree> {
  try {
    return await trees.buildFromRequest(raw)
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

export async function createMerkleTree(context: Context, input: TreeInput): Promise<TreeRecord> {
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
    status: 'tree_built',
    external_uid: context.externalUid ?? null,
    metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
    created_at: context.clock.now(),
  } as const
  if (!input.persist) {
    context.status = 200
    return { ...merkleTreeRecord(fields), persisted: false, created_at: null }
  }
  const distributor = await distributorAddress({ mint, airdropCount: airdrop_count })
  const row: NewRow<'merkle_trees'> = { ...fields, distributor, next_check_at: context.clock.now() }
  if (built.encoded === undefined) throw new Error('a tree to store was built without its pieces')
  const blobs = [...blobsOf(built.encoded)]
  const known = await findTree(context.store.db, id)
  const chain =
    input.replace && known !== null && known.root !== built.root ? await readTreeMint(context, distributor) : null
  return context.commit(async (tx) => {
    const existing = await findTree(tx, id)
    if (existing?.root === built.root) {
      context.status = 200
      const sameList = existing.list_sha256 === built.listHash
      // With the same list, `replace` repairs leaves that were damaged on disk.
      if (input.replace && sameList) await restoreBlobs(tx, id, blobs)
      return merkleTreeRecord(existing)
    }
    if (existing !== null && input.replace && chain === null) throw replacedMeanwhile(existing)
    if (existing !== null) await requireReplaceable(tx, existing, built.root, chain)
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

/** The account at the address of the airdrop, because the stored status may lag behind the chain. */
interface MintReading {
  genesis: string
  address: string
  distributor: Distributor | null
}

/** Throws internal_error when the node fails, because a tree that may be on chain is never replaced. */
async function readTreeMint({ chain }: Context, address: string): Promise<MintReading> {
  const { distributors } = await readDistributors(await chain.connection(), [address])
  return { genesis: await chain.genesisHash(), address, distributor: distributors[0] ?? null }
}

/**
 * Refuses unless a replacement is requested and nothing of the airdrop is on chain or pending. A tree with the
 * distributor's root is always accepted, because only that list can be claimed.
 */
async function requireReplaceable(
  tx: Tx,
  existing: Row<'merkle_trees'>,
  root: string,
  chain: MintReading | null,
): Promise<void> {
  const { id, airdrop_count, genesis } = existing
  // A state of another chain, such as one that was reset, does not apply to this one.
  const isForeign = chain !== null && genesis !== '' && genesis !== chain.genesis
  const status = isForeign ? 'tree_built' : existing.status
  const another = `use another airdrop_count than ${airdrop_count}`
  if (status !== 'tree_built') {
    throw treeConflict(existing, `The tree ${id} is on chain already (${status}) and cannot be replaced; ${another}`)
  }
  if (chain === null) {
    throw treeConflict(
      existing,
      `A tree ${id} with another root (${existing.root}) is stored; send replace: true to replace it, or another airdrop_count`,
    )
  }
  if (chain.distributor !== null) {
    const { admin, root: onChain } = chain.distributor
    if (onChain === root) return
    throw treeConflict(
      existing,
      `The airdrop ${id} is on chain already, made by ${admin} with the root ${onChain}, and its tree cannot be replaced by one with another root; ${another}`,
    )
  }
  const signature = await pendingCreation(tx, id, root, chain)
  if (signature === null) return
  throw treeConflict(
    existing,
    `The tree ${id} cannot be replaced now: the transaction ${signature} about its airdrop was submitted here and may still land. Wait until it is confirmed or has failed, or ${another}`,
    { signature },
  )
}

/** Returns a pending transaction that may create the airdrop with another root than this one, or null. */
async function pendingCreation(
  tx: Tx,
  id: string,
  root: string,
  { genesis, address }: MintReading,
): Promise<string | null> {
  const pending = (await pendingTransactions(tx, genesis, 0)).find(({ tracked_id, changes }) => {
    const roots = changes.flatMap((change) =>
      change.kind === 'created' && change.distributor === address ? [change.root] : [],
    )
    return roots.length === 0 ? tracked_id === id : roots.some((each) => each !== root)
  })
  return pending?.signature ?? null
}

/** The chain was not asked about an airdrop whose tree was stored, or had this root, when the request came. */
const replacedMeanwhile = ({ id }: Row<'merkle_trees'>): ApiError =>
  conflict(`Another request stored the tree ${id} with another root at the same time: send this one again`, {
    param: 'airdrop_count',
  })

const treeConflict = ({ root, status }: Row<'merkle_trees'>, message: string, more: object = {}): ApiError =>
  badRequest(message, { param: 'airdrop_count', details: { stored_root: root, status, ...more } })
