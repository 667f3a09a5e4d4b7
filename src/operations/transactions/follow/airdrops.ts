/** What a confirmed transaction did to airdrops: distributors that exist now, claims, vaults that were emptied. */
import type { TrackedResource } from '../../../api/index.ts'
import {
  type DistributorChange,
  distributorAddress,
  distributorChangesIn,
} from '../../../chain/programs/merkle-distributor/index.ts'
import type { Clock } from '../../../context.ts'
import { keyFromBase58, keyToBase58 } from '../../../merkle/base58.ts'
import { hashFromHex, verifyProof } from '../../../merkle/tree.ts'
import { decodeTreeId, encodeTreeId, MAX_AIRDROP_COUNT } from '../../../merkle/tree-id.ts'
import type { DecodedMessage } from '../../../solana/messages.ts'
import { findAirdrop, findAirdropAt, updateAirdrop } from '../../../store/airdrops.ts'
import type { Row } from '../../../store/schema.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import { advance, isDrainTold, statusOf } from '../../airdrops/transitions.ts'
import { storedAirdrop } from '../../api-records.ts'
import type { LateEmission } from '../../emit.ts'

export type AirdropChange = DistributorChange

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export const airdropChangesIn = (message: DecodedMessage): AirdropChange[] => distributorChangesIn(message)

interface Landed {
  tx: Tx
  clock: Clock
  row: Followed
  slot: number
}

/** Writes the records and answers the events. */
export async function writeAirdropChanges(
  tx: Tx,
  clock: Clock,
  row: Followed,
  slot: number,
  changes: readonly AirdropChange[],
): Promise<LateEmission[]> {
  const told: LateEmission[] = []
  const landed = { tx, clock, row, slot }
  const claims = new Set<string>()
  for (const change of changes) {
    if (change.kind === 'created') told.push(...(await created(landed, change)))
    if (change.kind === 'claimed') told.push(...(await claimed(landed, change, claims)))
    if (change.kind === 'clawed_back') told.push(...(await clawedBack(landed, change)))
  }
  return told
}

type Of<K extends AirdropChange['kind']> = Extract<AirdropChange, { kind: K }>

/** A distributor with another root than the stored tree's is not this airdrop's: nothing is told of it. */
async function created(landed: Landed, change: Of<'created'>): Promise<LateEmission[]> {
  const { distributor, mint, version, root, admin } = change
  if (version > BigInt(MAX_AIRDROP_COUNT)) return []
  const airdropCount = Number(version)
  const id = encodeTreeId(keyFromBase58(mint)!, airdropCount)
  const tree = await findAirdrop(landed.tx, id)
  if (tree !== null) {
    if (tree.root !== root) return []
    return (await advance(landed.tx, tree, distributor, {}, { ...seenBy(landed), admin })).told
  }
  const object = { id, mint, airdrop_count: airdropCount, root, status: 'initialized', distributor, admin }
  return [unstored(landed, 'airdrop.initialized', id, object, landed.row.genesis)]
}

/** The proof tells whether it is a claim of the stored tree: a distributor's account is not in the message. */
async function claimed(landed: Landed, change: Of<'claimed'>, claims: Set<string>): Promise<LateEmission[]> {
  const { tx, row, slot } = landed
  const { distributor, claimer, amount } = change
  const found = await airdropAt(landed, distributor)
  if (found === null) return []
  const { id, tree } = found
  // Of several in one transaction each is an event: the first is the one that a hint names.
  const occasion = claims.has(id) ? `${row.signature}:${claimer}` : row.signature
  claims.add(id)
  const what = { distributor, claimer, amount: String(amount) }
  if (tree === null) {
    const started = { ...keyOf(id), status: 'claiming', distributor }
    const states = [
      initializedBefore(landed, id, distributor),
      unstored(landed, 'airdrop.claim_started', id, started, row.genesis),
    ]
    return [
      ...((await isDrainTold(tx, id, row.genesis)) ? [] : states),
      unstored(landed, 'airdrop.claimed', id, { ...keyOf(id), ...what }, occasion),
    ]
  }
  if (!isOfTree(tree, change)) return []
  const moved = await advance(tx, tree, distributor, { isClaimed: true }, seenBy(landed))
  const object = { ...storedAirdrop(moved.row), ...what, slot, signature: row.signature, source: 'chain' }
  await lookSoon(landed, moved.row)
  return [
    ...moved.told,
    { type: 'airdrop.claimed', resource_type: 'airdrop', resource_id: id, object, occasion, of: row },
  ]
}

async function clawedBack(landed: Landed, { distributor, receiver }: Of<'clawed_back'>): Promise<LateEmission[]> {
  const found = await airdropAt(landed, distributor)
  if (found === null) return []
  const { id, tree } = found
  if (tree === null) {
    const object = { ...keyOf(id), distributor, clawback_receiver: receiver }
    return [
      initializedBefore(landed, id, distributor),
      unstored(landed, 'airdrop.vault_drained', id, object, landed.row.genesis),
    ]
  }
  if (statusOf(tree, landed.row.genesis) !== 'tree_built') {
    return (await advance(landed.tx, tree, distributor, { isDrained: true }, seenBy(landed))).told
  }
  // Whose root it had, its account will tell.
  await lookSoon(landed, tree)
  return []
}

const seenBy = ({ clock, row, slot }: Landed) => ({
  genesis: row.genesis,
  next: clock.now(),
  slot,
  signature: row.signature,
  of: row,
})

/** The worker looks at it in its next round. */
async function lookSoon({ tx, clock }: Landed, { id, next_check_at }: Row<'merkle_trees'>): Promise<void> {
  const now = clock.now()
  if (next_check_at !== null && next_check_at > now) await updateAirdrop(tx, id, { next_check_at: now })
}

const isOfTree = ({ root }: Row<'merkle_trees'>, { claimer, amount, locked, proof }: Of<'claimed'>): boolean =>
  locked === 0n && verifyProof(keyFromBase58(claimer)!, amount, proof, hashFromHex(root)!)

/** By its account; where no tree is stored, by the hint, as far as the account is derived from it. */
async function airdropAt(
  { tx, row }: Landed,
  distributor: string,
): Promise<{ id: string; tree: Row<'merkle_trees'> | null } | null> {
  const tree = await findAirdropAt(tx, distributor)
  if (tree !== null) return { id: tree.id, tree }
  const hint: TrackedResource | null = row.tracked_resource_json === null ? null : JSON.parse(row.tracked_resource_json)
  const id = hint?.resource_type === 'airdrop' ? hint.resource_id : null
  const key = id === null ? undefined : decodeTreeId(id)
  if (id === null || key === undefined) return null
  const address = await distributorAddress({ mint: keyToBase58(key.mint), airdropCount: key.airdropCount })
  return address === distributor ? { id, tree: await findAirdrop(tx, id) } : null
}

function keyOf(id: string) {
  const { mint, airdropCount } = decodeTreeId(id)!
  return { id, mint: keyToBase58(mint), airdrop_count: airdropCount }
}

/** What happens to a distributor shows that it was made, by another tool where that was not told before. */
const initializedBefore = (landed: Landed, id: string, distributor: string): LateEmission =>
  unstored(landed, 'airdrop.initialized', id, { ...keyOf(id), status: 'initialized', distributor }, landed.row.genesis)

/** About an airdrop whose tree is not stored here: there is no record to move. A state's occasion is as `advance` has it. */
function unstored(
  { row, slot }: Landed,
  type: 'airdrop.initialized' | 'airdrop.claim_started' | 'airdrop.claimed' | 'airdrop.vault_drained',
  id: string,
  fields: object,
  occasion: string,
): LateEmission {
  const object = { ...fields, slot, signature: row.signature, source: 'chain' }
  return { type, resource_type: 'airdrop', resource_id: id, object, occasion, of: row }
}
