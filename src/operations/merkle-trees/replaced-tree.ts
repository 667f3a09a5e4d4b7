/** Decides whether another list may replace a stored tree, and who may do it. The audit log has each replacement. */
import {
  type Distributor,
  distributorChangesIn,
  readDistributors,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest, forbidden, Overtaken } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { BLOCKHASH_LIFE_MS } from '../../solana/lifetimes.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { findSponsorship } from '../../store/airdrops/sponsorships.ts'
import type { NewRow, Row } from '../../store/schema.ts'
import { intendedSignings } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { pendingTransactions } from '../airdrops/follow-airdrops.ts'
import { audit } from '../signing/audit.ts'

type Tree = Row<'merkle_trees'>

/** Operation of the signings that put an airdrop on chain. */
export const AIRDROP_CREATION = 'airdrop.create'
/** An older reservation that is still not signed can no longer land, because its blockhash has expired. */
const RESERVED_FOR_MS = BLOCKHASH_LIFE_MS + 3 * MINUTE_MS

/** The distributor as the chain has it, because the stored status may lag behind. */
interface DistributorReading {
  genesis: string
  address: string
  distributor: Distributor | null
}

/** Throws internal_error when the node fails, because a tree that may be on chain is never replaced. */
export async function readTreeDistributor({ chain }: Context, address: string): Promise<DistributorReading> {
  const { distributors } = await readDistributors(chain, [address])
  return { genesis: await chain.genesisHash(), address, distributor: distributors[0] ?? null }
}

interface Replacement {
  root: string
  /** Whether the request asks for a replacement. */
  replace: boolean
  /** Null if the chain was not read, because no tree with another root existed when the request came. */
  chain: DistributorReading | null
}

/**
 * Refuses a replacement unless the tree's owner requests it, no sponsorship pays for its claims, and the airdrop is
 * neither on chain nor pending. The list of a distributor on chain is accepted, because only that list can be claimed.
 */
export async function requireReplaceable(
  context: Context,
  tx: Tx,
  existing: Tree,
  { root, replace, chain }: Replacement,
): Promise<void> {
  const { id, airdrop_count, genesis } = existing
  // A state of another chain, such as one that was reset, does not apply to this one.
  const isForeign = chain !== null && genesis !== '' && genesis !== chain.genesis
  const status = isForeign ? 'tree_built' : existing.status
  const another = `use another airdrop_count than ${airdrop_count}`
  if (replace) {
    requireOwner(context, existing, another)
    if (chain === null) throw replacedMeanwhile(id)
  }
  if (status !== 'tree_built') {
    throw treeConflict(existing, `The tree ${id} is already on chain (${status}) and cannot be replaced; ${another}`)
  }
  if (chain === null) {
    throw treeConflict(
      existing,
      `A tree ${id} with another root (${existing.root}) is stored; send replace: true to replace it, or another airdrop_count`,
    )
  }
  if ((await findSponsorship(tx, id))?.root === existing.root) {
    throw treeConflict(
      existing,
      `The tree ${id} cannot be replaced, because it has a sponsorship by the platform wallet, stopped or not (\`svc airdrops sponsor ${id}\`): ${another}`,
    )
  }
  if (chain.distributor !== null) {
    const { admin, root: onChain } = chain.distributor
    if (onChain === root) return
    throw treeConflict(
      existing,
      `The airdrop ${id} is already on chain, made by ${admin} with the root ${onChain}, so its tree cannot be replaced by one with another root; ${another}`,
    )
  }
  const under = (await pendingCreation(tx, id, root, chain)) ?? (await reservedCreation(context, tx, root, chain))
  if (under === null) return
  throw treeConflict(
    existing,
    `The tree ${id} cannot be replaced now: ${under.what} for its airdrop and may still land. Wait until it is confirmed or has failed, or ${another}`,
    under.details,
  )
}

/** Throws forbidden for a tree of another key, because users of the airdrop's id would get another list. */
function requireOwner({ actor }: Context, { id, created_by }: Tree, another: string): void {
  const { apiKeyId, scopes } = actor
  if (created_by === apiKeyId || scopes.includes('airdrop:admin') || scopes.includes('*')) return
  const whose = created_by === null ? 'was stored before trees had owners' : 'was stored by another API key'
  const who = created_by === null ? 'a key with airdrop:admin or *' : 'that key, or one with airdrop:admin or *,'
  throw forbidden(`The merkle tree ${id} ${whose}: only ${who} replaces it; ${another}`, {
    param: 'airdrop_count',
  })
}

interface UnderWay {
  what: string
  details: Record<string, string>
}

/** Returns a pending transaction that may create the airdrop with another root than this one, or null. */
async function pendingCreation(
  tx: Tx,
  id: string,
  root: string,
  { genesis, address }: DistributorReading,
): Promise<UnderWay | null> {
  const pending = (await pendingTransactions(tx, genesis, 0)).find(({ tracked_id, changes }) => {
    const roots = changes.flatMap((change) =>
      change.kind === 'created' && change.distributor === address ? [change.root] : [],
    )
    return roots.length === 0 ? tracked_id === id : roots.some((each) => each !== root)
  })
  if (pending === undefined) return null
  const { signature } = pending
  return { what: `the transaction ${signature} was submitted here`, details: { signature } }
}

/** Returns a creation of the airdrop, with another root than this one, that the platform wallet is about to sign, or null. */
async function reservedCreation(
  { clock }: Context,
  tx: Tx,
  root: string,
  { genesis, address }: DistributorReading,
): Promise<UnderWay | null> {
  const rows = await intendedSignings(tx, AIRDROP_CREATION, clock.now() - RESERVED_FOR_MS)
  const creates = (transaction: Buffer) =>
    distributorChangesIn(decodeWireTransaction(transaction).message).some(
      (change) => change.kind === 'created' && change.distributor === address && change.root !== root,
    )
  const found = rows.find((row) => row.genesis === genesis && creates(row.transaction))
  if (found === undefined) return null
  return { what: `the signing ${found.id} was started here`, details: { signing: found.id } }
}

/** The chain was not read, because no tree with another root existed when the request came. */
const replacedMeanwhile = (id: string): ApiError =>
  new Overtaken(`Another request stored the tree ${id} with another root at the same time: send this request again`, {
    param: 'airdrop_count',
  })

const treeConflict = ({ root, status }: Tree, message: string, more: object = {}): ApiError =>
  badRequest(message, { param: 'airdrop_count', details: { stored_root: root, status, ...more } })

type ListFacts = Pick<NewRow<'merkle_trees'>, 'root' | 'leaf_count' | 'total'>

export const auditReplacement = (context: Context, tx: Tx, before: Tree, after: ListFacts): Promise<void> =>
  audit(context, tx, 'merkle_tree.replaced', null, {
    merkle_tree: before.id,
    stored_by: before.created_by,
    before: listFacts(before),
    after: listFacts(after),
  })

const listFacts = ({ root, leaf_count, total }: ListFacts) => ({ root, leaf_count, total })
