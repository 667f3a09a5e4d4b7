/** Projects confirmed transactions onto airdrops: new distributors, claims and emptied vaults. */
import type { EventType } from '../../api/event-types.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import {
  type DistributorChange,
  decodeClaimStatus,
  distributorAddress,
  distributorChangesIn,
} from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import { confirmedDraft } from '../../following/chain-drafts.ts'
import type { ChainStateReader, Effects, Projection } from '../../following/projection.ts'
import { keyToBase58 } from '../../merkle/base58.ts'
import { verifyProof } from '../../merkle/tree.ts'
import { decodeTreeId, MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { DAY_MS } from '../../platform/timing.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { findAirdrop, findAirdropAt, updateAirdrop } from '../../store/airdrops/airdrops.ts'
import { recordAirdropClaim } from '../../store/airdrops/claims.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { newTrees } from '../../store/following/newcomers.ts'
import type { Tx } from '../../store/store.ts'
import { storedAirdrop } from '../api-records.ts'
import { hashBytesOf, keyBytesOf, treeIdOf } from '../merkle-trees/open-tree.ts'
import {
  type AirdropEvidence,
  type AirdropRow,
  advanceAirdrop,
  airdropStatusOn,
  isDrainReported,
} from './transitions.ts'

// Records the claims of a confirmed transaction once. The amount of a claim of vested tokens is read from the
// wallet's claim status.

type AirdropEffects = Effects<readonly DistributorChange[], bigint>
type DistributorChangeOf<K extends DistributorChange['kind']> = Extract<DistributorChange, { kind: K }>
type VestedClaim = DistributorChangeOf<'vested_claimed'>

/** The total of locked raw units that each wallet has claimed, by the address of its claim status. */
const withdrawnAmounts: ChainStateReader<readonly DistributorChange[], bigint> = {
  addressesOf: (changes) => changes.flatMap((change) => (change.kind === 'vested_claimed' ? [change.status] : [])),
  callsFor: (addresses) => Math.ceil(addresses / ACCOUNTS_PER_CALL),
  async read(chain, addresses, slot) {
    const amounts = new Map<string, bigint>()
    for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
      const part = addresses.slice(at, at + ACCOUNTS_PER_CALL)
      const { accounts } = await askNode('Reading claims', () => accountsAtSlot(chain, part, slot))
      for (const [i, address] of part.entries()) {
        const status = decodeClaimStatus(accounts[i] ?? null)
        if (status !== null) amounts.set(address, status.lockedWithdrawn)
      }
    }
    return amounts
  },
}

/** Records the first claim of a wallet, with the part of the locked amount claimed in the same transaction. */
async function recordFirstClaim(
  tx: Tx,
  effects: AirdropEffects,
  airdrop_id: string,
  change: DistributorChangeOf<'claimed'>,
): Promise<void> {
  const { claimer: wallet, amount } = change
  const vested = effects.changes.find(
    (each): each is VestedClaim => each.kind === 'vested_claimed' && isSame(each, change),
  )
  const withdrawn = vested === undefined ? 0n : (effects.states.get(vested.status) ?? 0n)
  await recordAirdropClaim(tx, {
    ...evidenceFor(effects),
    airdrop_id,
    kind: 'claim',
    wallet,
    amount,
    amount_locked: withdrawn,
  })
}

/** Records a later claim of vested tokens. One in the same transaction as the wallet's first claim is part of that. */
async function recordVestedClaim(
  tx: Tx,
  effects: AirdropEffects,
  airdrop_id: string,
  change: VestedClaim,
): Promise<void> {
  const withdrawn = effects.states.get(change.status)
  const isWithFirst = effects.changes.some((each) => each.kind === 'claimed' && isSame(each, change))
  if (withdrawn === undefined || isWithFirst) return
  const amounts = { amount: 0n, amount_locked: 0n, withdrawn }
  const { claimer: wallet } = change
  await recordAirdropClaim(tx, { ...evidenceFor(effects), airdrop_id, kind: 'claim_locked', wallet, ...amounts })
}

type OfWallet = Pick<VestedClaim, 'distributor' | 'claimer'>
const isSame = (one: OfWallet, other: OfWallet) =>
  one.distributor === other.distributor && one.claimer === other.claimer

/** The time is the block time if it was read, else the time of the look that found the claim confirmed. */
function evidenceFor({ services, transaction, slot }: AirdropEffects) {
  const { genesis, signature, occurred_at = null } = transaction
  const now = services.clock.now()
  // A node's time counts only if a block can have it.
  const isPlausible = occurred_at !== null && occurred_at > 0 && occurred_at <= now + DAY_MS
  return { genesis, signature, slot, claimed_at: isPlausible ? occurred_at : now }
}

export const airdropProjection: Projection<readonly DistributorChange[], bigint> = {
  async changesIn(message) {
    const changes = distributorChangesIn(message)
    return changes.length === 0 ? null : changes
  },
  chainState: withdrawnAmounts,
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    const claimedIds = new Set<string>()
    for (const change of effects.changes) {
      if (change.kind === 'created') drafts.push(...(await writeDistributor(tx, effects, change)))
      if (change.kind === 'claimed') drafts.push(...(await writeClaim(tx, effects, change, claimedIds)))
      if (change.kind === 'vested_claimed') await writeVestedClaim(tx, effects, change)
      if (change.kind === 'clawed_back') drafts.push(...(await writeClawback(tx, effects, change)))
    }
    return drafts
  },
  async accountsToFollow({ store, clock }, { genesis }) {
    const trees = await newTrees(store.db, { genesis, now: clock.now() })
    return trees.flatMap(({ distributor }) =>
      distributor === null ? [] : [{ address: distributor, kind: 'distributor', watch: 'state' } as const],
    )
  },
  async ofRecords(reader, changes) {
    const kept: DistributorChange[] = []
    for (const change of changes) if ((await findAirdropAt(reader, change.distributor)) !== null) kept.push(change)
    return kept.length === 0 ? null : kept
  },
  async fieldsOf(reader, { resource_type, resource_id }) {
    const tree = resource_type === 'airdrop' ? await findAirdrop(reader, resource_id) : null
    return tree && storedAirdrop(tree)
  },
  async isAlreadyReported(tx, { type, resource_type, resource_id }, effects) {
    const kind = resource_type === 'airdrop' ? MADE_BY[type] : undefined
    if (kind === undefined || effects === null) return false
    const { transaction, changes } = effects
    const tree = await findAirdrop(tx, resource_id)
    if (tree === null) return false
    const isMade = changes.some((change) => change.kind === kind && change.distributor === tree.distributor)
    const status = airdropStatusOn(tree, transaction.genesis)
    return isMade && (kind === 'created' ? status !== 'tree_built' : status === 'vault_drained')
  },
}

/** The change that produces a state. A worker may observe and report that state first. */
const MADE_BY: Partial<Record<EventType, DistributorChange['kind']>> = {
  'airdrop.initialized': 'created',
  'airdrop.vault_drained': 'clawed_back',
}

/** A distributor with another root than the stored tree's does not belong to this airdrop, and has no events. */
async function writeDistributor(
  tx: Tx,
  effects: AirdropEffects,
  change: DistributorChangeOf<'created'>,
): Promise<EventDraft[]> {
  const { distributor, mint, version, root, admin } = change
  if (version > BigInt(MAX_AIRDROP_COUNT)) return []
  const airdropCount = Number(version)
  const id = treeIdOf(mint, airdropCount)
  const tree = await findAirdrop(tx, id)
  if (tree !== null) {
    if (tree.root !== root) return []
    return (await advanceAirdrop(tx, tree, distributor, {}, { ...evidenceOf(effects), admin })).drafts
  }
  const object = { id, mint, airdrop_count: airdropCount, root, status: 'initialized', distributor, admin }
  return [unstoredDraft(effects, 'airdrop.initialized', id, object, effects.transaction.genesis)]
}

/**
 * The proof shows whether the claim belongs to the stored tree, because the message does not contain the distributor's
 * account.
 */
async function writeClaim(
  tx: Tx,
  effects: AirdropEffects,
  change: DistributorChangeOf<'claimed'>,
  claimedIds: Set<string>,
): Promise<EventDraft[]> {
  const { signature, genesis } = effects.transaction
  const { distributor, claimer, amount } = change
  const airdrop = await airdropAt(tx, effects, distributor)
  if (airdrop === null) return []
  const { id, tree } = airdrop
  // Several claims in one transaction have an event each. The first is the one that a request tracks.
  const dedupeBy = claimedIds.has(id) ? `${signature}:${claimer}` : signature
  claimedIds.add(id)
  const claim = { distributor, claimer, amount: String(amount) }
  if (tree === null) {
    await recordFirstClaim(tx, effects, id, change)
    const started = { ...keyOf(id), status: 'claiming', distributor }
    const states = [
      initializedBefore(effects, id, distributor),
      unstoredDraft(effects, 'airdrop.claim_started', id, started, genesis),
    ]
    return [
      ...((await isDrainReported(tx, id, genesis)) ? [] : states),
      unstoredDraft(effects, 'airdrop.claimed', id, { ...keyOf(id), ...claim }, dedupeBy),
    ]
  }
  if (!isOfTree(tree, change)) return []
  await recordFirstClaim(tx, effects, id, change)
  const advanced = await advanceAirdrop(tx, tree, distributor, { isClaimed: true }, evidenceOf(effects))
  const object = { ...storedAirdrop(advanced.row), ...claim }
  await lookNow(tx, effects, advanced.row)
  return [
    ...advanced.drafts,
    confirmedDraft(effects, {
      type: 'airdrop.claimed',
      resource_type: 'airdrop',
      resource_id: id,
      object,
      dedupe_by: dedupeBy,
    }),
  ]
}

/**
 * The message has no proof. The distributor counts as the stored tree's once it was seen with that root on this chain.
 */
async function writeVestedClaim(
  tx: Tx,
  effects: AirdropEffects,
  change: DistributorChangeOf<'vested_claimed'>,
): Promise<void> {
  const airdrop = await airdropAt(tx, effects, change.distributor)
  if (airdrop === null) return
  const { id, tree } = airdrop
  if (tree !== null && airdropStatusOn(tree, effects.transaction.genesis) === 'tree_built') return
  await recordVestedClaim(tx, effects, id, change)
}

async function writeClawback(
  tx: Tx,
  effects: AirdropEffects,
  { distributor, receiver }: DistributorChangeOf<'clawed_back'>,
): Promise<EventDraft[]> {
  const { genesis } = effects.transaction
  const airdrop = await airdropAt(tx, effects, distributor)
  if (airdrop === null) return []
  const { id, tree } = airdrop
  if (tree === null) {
    const object = { ...keyOf(id), distributor, clawback_receiver: receiver }
    return [
      initializedBefore(effects, id, distributor),
      unstoredDraft(effects, 'airdrop.vault_drained', id, object, genesis),
    ]
  }
  if (airdropStatusOn(tree, genesis) !== 'tree_built') {
    return (await advanceAirdrop(tx, tree, distributor, { isDrained: true }, evidenceOf(effects))).drafts
  }
  // Only the distributor's account shows whether its root is this tree's. The worker reads it.
  await lookNow(tx, effects, tree)
  return []
}

const evidenceOf = ({ services, transaction, slot }: AirdropEffects): AirdropEvidence => ({
  genesis: transaction.genesis,
  next: services.clock.now(),
  slot,
  signature: transaction.signature,
  origin: transaction,
})

/** Makes the worker check the airdrop in its next round. */
async function lookNow(tx: Tx, { services }: AirdropEffects, { id, next_check_at }: AirdropRow): Promise<void> {
  const now = services.clock.now()
  if (next_check_at !== null && next_check_at > now) await updateAirdrop(tx, id, { next_check_at: now })
}

function isOfTree({ root }: AirdropRow, { claimer, amount, locked, proof }: DistributorChangeOf<'claimed'>): boolean {
  return verifyProof(keyBytesOf(claimer), amount, proof, hashBytesOf(root), locked)
}

/**
 * Finds the airdrop by its account. Without a stored tree it uses the tracked resource, if the account is derived from
 * it.
 */
async function airdropAt(
  tx: Tx,
  { tracked }: AirdropEffects,
  distributor: string,
): Promise<{ id: string; tree: AirdropRow | null } | null> {
  const tree = await findAirdropAt(tx, distributor)
  if (tree !== null) return { id: tree.id, tree }
  const id = tracked?.resource_type === 'airdrop' ? tracked.resource_id : null
  const key = id === null ? undefined : decodeTreeId(id)
  if (id === null || key === undefined) return null
  const address = distributorAddress({ mint: keyToBase58(key.mint), airdropCount: key.airdropCount })
  return address === distributor ? { id, tree: await findAirdrop(tx, id) } : null
}

/** Returns the fields of the id. Throws for an invalid tree id, which `airdropAt` never returns. */
function keyOf(id: string) {
  const key = decodeTreeId(id)
  if (key === undefined) throw new Error(`${id} is not a merkle tree id`)
  return { id, mint: keyToBase58(key.mint), airdrop_count: key.airdropCount }
}

/** A change to a distributor proves its creation, which another tool made if no event reported it before. */
const initializedBefore = (effects: AirdropEffects, id: string, distributor: string): EventDraft =>
  unstoredDraft(
    effects,
    'airdrop.initialized',
    id,
    { ...keyOf(id), status: 'initialized', distributor },
    effects.transaction.genesis,
  )

/**
 * Returns a draft for an airdrop without a stored tree, which has no record to update. State events have the dedupe
 * key of `advanceAirdrop`.
 */
const unstoredDraft = (
  effects: AirdropEffects,
  type: 'airdrop.initialized' | 'airdrop.claim_started' | 'airdrop.claimed' | 'airdrop.vault_drained',
  id: string,
  object: object,
  dedupe_by: string,
): EventDraft => confirmedDraft(effects, { type, resource_type: 'airdrop', resource_id: id, object, dedupe_by })
