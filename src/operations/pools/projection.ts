/** Projects confirmed transactions onto pools: launches that are now live, claimed fees, and new creators. */
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { type DammV2Change, dammV2ChangesIn, positionsIn } from '../../chain/programs/damm-v2/index.ts'
import {
  creatorOf,
  creatorPart,
  type DbcChange,
  type DbcRecipient,
  dbcChangesIn,
  leftoverPart,
  readReceivers,
  vestingEscrowAddress,
} from '../../chain/programs/dbc/index.ts'
import { type VestingClaimChange, vestingClaimsIn } from '../../chain/programs/jupiter-lock/index.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import { chainDraft, confirmedDraft } from '../../following/chain-drafts.ts'
import type {
  Effects,
  FollowedData,
  FollowedFor,
  FollowOptions,
  FollowServices,
  Projection,
  SubmissionContext,
} from '../../following/projection.ts'
import { internal } from '../../platform/errors.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { pageEvents } from '../../store/events/events.ts'
import { removedEvents } from '../../store/events/retention.ts'
import { claimsOfSignature, insertFeeClaim } from '../../store/fees/fee-claims.ts'
import {
  dueAccounts,
  type FollowedAccount,
  followAccounts,
  isFollowed,
  isFollowedAs,
  type NewFollowedAccount,
  planLook,
} from '../../store/following/followed-accounts.ts'
import { newPools } from '../../store/following/newcomers.ts'
import { newId } from '../../store/id.ts'
import { findPool, updatePool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { feeClaimRecord } from '../api-records.ts'
import { trySigner } from '../signing/require-signer.ts'
import {
  CLAIMER_KIND,
  type ClaimChange,
  claimedFees,
  findClaimRow,
  isClaim,
  type PositionClaimChange,
  poolOfVesting,
} from './claimed-fees.ts'
import { markPoolLive, poolFields } from './transitions.ts'

/** Pools whose accounts one round reads. */
const SOURCES_PER_ROUND = 100
/** After this many failed searches in a row, the others wait for the next round. */
const MOST_FAULTS = 3
const AGAIN_MS = { dbc: DAY_MS, missing: 10 * SECOND_MS, damm_v2: 10 * MINUTE_MS, faulty: MINUTE_MS } as const

/** Reasons for following a launch curve by a wallet's history. The wallet comes after a colon. */
const BY_CREATOR = 'creator'
const BY_RECEIVER = 'leftover'

/**
 * A pool's own history consists of any number of trades, which change no record. Claims are in the few transactions of
 * its fee claimer, who signs each, and of its positions. Its creator may be any wallet, so the creator's history is
 * listed only when the pool's account shows a claim.
 */
async function accountsOfPools(services: FollowServices, options: FollowOptions): Promise<NewFollowedAccount[]> {
  const { store, clock, config } = services
  const pools = await newPools(store.db, { genesis: options.genesis, now: clock.now() })
  const wallets = [config.values['platform-wallet'], (await trySigner(services))?.address]
  return [
    ...wallets.flatMap((address) => (address === undefined ? [] : [claimerAccount(address)])),
    ...pools.map(({ address, type }) => ({ address, kind: type, watch: 'source' }) as const),
    ...pools.flatMap(({ address, type, creator }) =>
      type === 'damm_v2' || creator === null || wallets.includes(creator) ? [] : [creatorAccount(address, creator)],
    ),
    ...(await accountsOfSources(services, options)),
  ]
}

const claimerAccount = (address: string): NewFollowedAccount => ({ address, kind: CLAIMER_KIND, watch: 'history' })

const followedBy = (address: string, reason: string, wallet: string): NewFollowedAccount => ({
  address,
  kind: `${reason}:${wallet}`,
  watch: 'state',
  history_of: wallet,
})

/** The account of a launch curve, followed for the claims of its creator. */
const creatorAccount = (pool: string, creator: string): NewFollowedAccount => followedBy(pool, BY_CREATOR, creator)

/** Returns the part of a launch curve's account that the wallet's transactions change. */
function followedPartOf(account: FollowedData, { kind, history_of }: FollowedFor): Uint8Array | null | undefined {
  if (history_of === null) return undefined
  if (kind.startsWith(`${BY_CREATOR}:`)) return creatorPart(account, history_of)
  return kind.startsWith(`${BY_RECEIVER}:`) ? leftoverPart(account) : undefined
}

async function accountsOfSources(
  services: FollowServices,
  { genesis, takeCall }: FollowOptions,
): Promise<NewFollowedAccount[]> {
  const { store, chain, clock, log } = services
  const now = clock.now()
  const due = await dueAccounts(store.db, {
    genesis,
    watch: 'source',
    kinds: ['dbc', 'damm_v2'],
    now,
    limit: SOURCES_PER_ROUND,
  })
  const found: NewFollowedAccount[] = []
  const looked: { seq: number; next: number }[] = []
  const curves: { source: FollowedAccount; config: string }[] = []
  let faults = 0
  for (const source of due) {
    if (source.kind === 'dbc') {
      const pool = await findPool(store.db, source.address)
      if (pool?.config) curves.push({ source, config: pool.config })
      else looked.push({ seq: source.seq, next: now + AGAIN_MS.missing })
    } else if (faults < MOST_FAULTS && takeCall()) {
      // Public nodes may refuse such a search. An error must stop only this pool.
      const positions = await positionsIn(chain, source.address).catch((error: unknown) => {
        log.warn({ err: error, pool: source.address }, 'the positions of a pool could not be listed')
        return null
      })
      faults = positions === null ? faults + 1 : 0
      if (positions === null) {
        looked.push({ seq: source.seq, next: now + AGAIN_MS.faulty })
        continue
      }
      found.push(...positions.map((address) => ({ address, kind: 'position', watch: 'state' }) as const))
      const wait = positions.length === 0 ? AGAIN_MS.missing : AGAIN_MS.damm_v2
      looked.push({ seq: source.seq, next: now + wait })
    }
  }
  if (curves.length > 0 && takeCall()) {
    const configs = curves.map(({ config }) => config)
    const receivers = await receiversIn(services, configs)
    for (const [i, { source }] of curves.entries()) {
      const { feeClaimer, leftoverReceiver, hasVesting } = receivers?.[i] ?? { hasVesting: false }
      if (feeClaimer !== undefined) found.push(claimerAccount(feeClaimer))
      if (leftoverReceiver !== undefined && leftoverReceiver !== feeClaimer) {
        found.push(followedBy(source.address, BY_RECEIVER, leftoverReceiver))
      }
      if (hasVesting) found.push(await vestingAccount(source.address))
      const wait = receivers === null ? AGAIN_MS.faulty : feeClaimer === undefined ? AGAIN_MS.missing : AGAIN_MS.dbc
      looked.push({ seq: source.seq, next: now + wait })
    }
  }
  if (looked.length === 0) return found
  await store.write(async (tx) => {
    for (const { seq, next } of looked) await planLook(tx, seq, next)
  })
  return found
}

const vestingAccount = async (pool: string): Promise<NewFollowedAccount> => ({
  address: await vestingEscrowAddress(pool),
  kind: 'vesting',
  watch: 'state',
  about: pool,
})

/** Returns null if the node cannot read them, which stops only these pools. */
async function receiversIn({ chain, log }: FollowServices, configs: readonly string[]) {
  try {
    return await readReceivers(chain, configs)
  } catch (error) {
    log.warn({ err: error, configs }, 'the receivers of launch curves could not be read')
    return null
  }
}

type PoolChange = DbcChange | Exclude<DammV2Change, { kind: 'claim' }> | PositionClaimChange | VestingClaimChange
type PoolRow = Row<'pools'>
type PoolEffects = Effects<readonly PoolChange[], Role>

export const poolProjection: Projection<readonly PoolChange[], Role> = {
  async changesIn(message, { services }) {
    const positions = await withSigner(services, dammV2ChangesIn(message))
    const changes = [...dbcChangesIn(message), ...positions, ...vestingClaimsIn(message)]
    return changes.length === 0 ? null : changes
  },
  chainState: {
    addressesOf: (changes) =>
      changes.flatMap((each) =>
        each.kind === 'creator_transferred' ? [each.pool] : 'nftAccount' in each ? [each.nftAccount] : [],
      ),
    callsFor: (addresses) => Math.ceil(addresses / ACCOUNTS_PER_CALL),
    read: async (chain, addresses, slot) => readRoles(chain, addresses, slot),
  },
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    for (const change of effects.changes) {
      if (change.kind === 'pool_created') drafts.push(...(await writeLaunch(tx, effects, change.pool)))
      if (change.kind === 'creator_transferred') await writeCreator(tx, effects, change)
    }
    return [...drafts, ...(await writeFeeClaims(tx, effects))]
  },
  accountsToFollow: accountsOfPools,
  followedPart: followedPartOf,
  /** Claims from pools without a record, or from positions that are not followed, belong to strangers. */
  async ofRecords(reader, changes, genesis) {
    const kept: PoolChange[] = []
    for (const change of changes) {
      const pool = change.kind === 'vesting' ? await poolOfVesting(reader, change, genesis) : change.pool
      if (pool === null || (await findPool(reader, pool)) === null) continue
      if (!('position' in change) || change.kind !== 'claim' || (await isOfFollowed(reader, change, genesis)))
        kept.push(change)
    }
    return kept.length === 0 ? null : kept
  },
  async fieldsOf(reader, { resource_type, resource_id }) {
    const pool = resource_type === 'pool' ? await findPool(reader, resource_id) : null
    return pool && poolFields(pool)
  },
  /** That a pool with a record is live is seen on chain, whichever transaction a client names. */
  async isAlreadyReported(tx, { type, resource_type, resource_id }) {
    return resource_type === 'pool' && type === 'pool.live' && (await findPool(tx, resource_id)) !== null
  },
  async keepsHints(reader, { resource_type, resource_id }) {
    const pool = resource_type === 'pool' ? await findPool(reader, resource_id) : null
    return pool?.status === 'pending' || pool?.status === 'failed'
  },
}

/** Marks the claims of the platform wallet. The signer is opened only if there are claims. */
async function withSigner(
  services: SubmissionContext['services'],
  changes: readonly DammV2Change[],
): Promise<(Exclude<DammV2Change, { kind: 'claim' }> | PositionClaimChange)[]> {
  if (!changes.some(({ kind }) => kind === 'claim')) return changes.slice()
  const wallet = (await trySigner(services))?.address
  return changes.map((each) => (each.kind === 'claim' ? { ...each, isSigner: each.owner === wallet } : each))
}

/** Anyone can open a position that holds nothing and claim from it, but only its owner can sign for that. */
async function isOfFollowed(
  reader: Reader,
  { position, owner }: PositionClaimChange,
  genesis: string,
): Promise<boolean> {
  return (await isFollowed(reader, genesis, owner)) || isFollowed(reader, genesis, position)
}

/** A claim that a delegate signs belongs to the holder of the position. */
function ofHolder(change: ClaimChange, roles: PoolEffects['states']): ClaimChange {
  const role = 'nftAccount' in change ? roles.get(change.nftAccount) : undefined
  if (!('nftAccount' in change) || role === undefined || role.delegate !== change.owner) return change
  return { ...change, owner: role.wallet, isSigner: false }
}

/** A pool that was not built here has no record. */
async function writeLaunch(tx: Tx, effects: PoolEffects, address: string): Promise<EventDraft[]> {
  const { services, slot, transaction } = effects
  const pool = await findPool(tx, address)
  if (pool === null) return []
  const { signature } = transaction
  const moved = await markPoolLive(services, tx, pool, { slot, signature })
  if (moved.row !== pool || pool.status === 'failed' || (await isLiveReported(tx, pool))) return moved.drafts
  const object = poolFields({ ...pool, status: 'live', migrated_to: null })
  const about = { resource_type: 'pool', resource_id: address, dedupe_by: signature, origin: pool }
  return [chainDraft({ slot, signature }, { type: 'pool.live', object, ...about })]
}

/** Whether the event of a pool is stored, whoever saw it first, or removed because of its age. A migration has its own. */
async function isLiveReported(tx: Tx, { address, created_at, dbc_pool }: PoolRow): Promise<boolean> {
  if (dbc_pool !== null) return true
  const events = { type: 'pool.live', resource_type: 'pool', resource_id: address, limit: 1 } as const
  if ((await pageEvents(tx, events)).rows.length > 0) return true
  return created_at < ((await removedEvents(tx))?.since ?? 0)
}

/** Transactions may be seen out of order, so the creator is read from the curve's account. */
async function writeCreator(
  tx: Tx,
  { states, services, slot, transaction }: PoolEffects,
  { pool: address, newCreator }: Extract<DbcChange, { kind: 'creator_transferred' }>,
): Promise<void> {
  const [pool, creator] = [await findPool(tx, address), states.get(address)?.wallet]
  if (pool === null) return
  const { genesis } = transaction
  // The new creator may claim before the next search for accounts of pools.
  if (!(await isFollowedAs(tx, genesis, newCreator, CLAIMER_KIND)))
    await followAccounts(tx, [creatorAccount(address, newCreator)], { genesis, from: slot, now: services.clock.now() })
  if (creator !== undefined && pool.creator !== creator) await updatePool(tx, address, { creator })
}

/**
 * Writes one record for each claim, and returns drafts for all claims; stored events are not written again. A pool's
 * first claim of a type has only the signature as dedupe key, like the event of the request that tracks it.
 */
async function writeFeeClaims(tx: Tx, effects: PoolEffects): Promise<EventDraft[]> {
  const { clock, config } = effects.services
  const { signature, genesis, external_uid, metadata_json } = effects.transaction
  const changes = effects.changes.filter(isClaim).map((change) => ofHolder(change, effects.states))
  const claims = await claimedFees(tx, changes, { genesis, config })
  if (claims.length === 0) return []
  const rows = await claimsOfSignature(tx, signature)
  const drafts: EventDraft[] = []
  for (const claim of claims) {
    const { pool, kind, beneficiary, claimer } = claim
    const recipients = claim.recipients.map(sharesAsText)
    const known = findClaimRow(rows, claim)
    const row =
      known ??
      (await insertFeeClaim(tx, {
        id: newId('fcl'),
        type: recipients.length > 0 ? 'fee_claim.split_executed' : 'fee_claim.executed',
        pool_address: pool,
        kind,
        beneficiary,
        claimer,
        signature,
        recipients_json: recipients.length > 0 ? JSON.stringify(recipients) : null,
        occurred_at: clock.now(),
        external_uid,
        metadata_json,
        created_at: clock.now(),
      }))
    if (known === undefined) rows.push(row)
    const { type, pool_address } = row
    const first = rows.find((each) => each.pool_address === pool_address && each.type === type)
    const own = `${signature}:${kind}:${beneficiary ?? ''}:${claimer}`
    const { id, occurred_at } = feeClaimRecord(row)
    const object = { id, type, pool_address, kind, beneficiary, claimer, signature, occurred_at }
    drafts.push(
      // The tracked request and the claim would both report the pool. Only one event is written.
      confirmedDraft(effects, {
        type,
        resource_type: 'pool',
        resource_id: pool_address,
        object: { ...object, ...(recipients.length > 0 ? { recipients } : {}) },
        dedupe_by: first?.id === id ? signature : own,
      }),
    )
  }
  return drafts
}

/** Amounts are digits, as everywhere outside. */
const sharesAsText = (share: DbcRecipient) =>
  'lamports' in share ? { ...share, lamports: String(share.lamports) } : { ...share, amount: String(share.amount) }

/** Who has a role at a launch curve or at the token account of a position's NFT. */
interface Role {
  /** The creator of the curve, or the owner of the token account. */
  wallet: string
  /** The delegate of the token account, or null; a curve has none. */
  delegate: string | null
}

/**
 * Returns roles by the address of their launch curve or token account, at `slot` or later; an address without one is
 * absent. Throws internal_error when the node fails or has not reached the slot.
 */
async function readRoles(node: NodeCalls, addresses: readonly string[], slot: number): Promise<Map<string, Role>> {
  const roles = new Map<string, Role>()
  for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
    const part = addresses.slice(at, at + ACCOUNTS_PER_CALL)
    const { accounts } = await askNode('Reading creators and holders', () => accountsAtSlot(node, part, slot))
    if (accounts.length !== part.length)
      throw internal('Reading creators and holders failed at the RPC node: accounts are missing')
    for (const [i, address] of part.entries()) {
      const account = accounts[i] ?? null
      const creator = creatorOf(account)
      const token = creator !== null || account === null ? null : readTokenAccount(account)
      if (creator !== null) roles.set(address, { wallet: creator, delegate: null })
      else if (token !== null) roles.set(address, { wallet: token.owner, delegate: token.delegate })
    }
  }
  return roles
}
