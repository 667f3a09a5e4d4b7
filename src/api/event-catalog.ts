/**
 * What each event says: when it is reported, the fields of its `data.object`, and a sample. docs/events.md is made from
 * it, and filters of webhook subscriptions are checked against it.
 */
import { z } from '@hono/zod-openapi'
import { airdrop } from './airdrops.ts'
import { address, digits, poolAddress, signatureText } from './chain-scalars.ts'
import type { EventType } from './event-types.ts'
import { feeClaim } from './fee-claims.ts'
import { goldLock } from './gold-locks.ts'
import { merkleTree } from './merkle-trees.ts'
import { nft } from './nfts.ts'
import { pool } from './pools.ts'
import { stake } from './stakes.ts'
import { token } from './tokens.ts'
import { transaction } from './transactions.ts'
import { storedSubscription } from './webhook-subscriptions.ts'

/** Events about one kind of resource, with the same fields. */
interface EventFamily {
  title: string
  resourceType: string
  /** What `resource_id` is. */
  resourceId: string
  fields: z.ZodObject
  events: { [type in EventType]?: CataloguedEvent }
  /** One of the events, with the fields of its object besides type and id of the resource. */
  example: { type: EventType; resource_id: string; object: Record<string, unknown> }
}

interface CataloguedEvent {
  when: string
  /** Fields that only this event has. */
  more?: z.ZodRawShape
  /** What its sample has instead of the example of its family. */
  sample?: Record<string, unknown>
}

/** Where the chain shows what an event reports. */
const evidence = {
  slot: z.int().min(0).optional().meta({ description: 'Slot in which the chain shows it' }),
  signature: signatureText.optional().meta({ description: 'Its transaction; absent if only the account was read' }),
  source: z.literal('chain').meta({ description: 'The chain shows it' }),
}

const storedPool = pool.omit({ curve_progress: true, state: true, fee_metrics: true })
const storedAirdrop = airdrop
  .pick({ id: true, mint: true, airdrop_count: true, root: true, leaf_count: true, status: true, created_at: true })
  .extend({ total: digits.nullable(), total_locked: digits.nullable() })

const MINT = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
const WALLET = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'
const POOL = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'
const ASSET = 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222'
const COLLECTION = 'ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq'
const SIGNATURE = '2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY'
const TREE = 'HCdsU9t-0mH9zsMTKiOCo-RpUJLlJLwxsyDLQZNxDScAAA'
const shown = { slot: 418_000_150, signature: SIGNATURE, source: 'chain' }
const examplePool = {
  type: 'dbc',
  address: POOL,
  base_mint: MINT,
  quote_mint: 'So11111111111111111111111111111111111111112',
  config: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
  creator: WALLET,
  name: 'First Token',
  symbol: 'FIRST',
  metadata_uri: 'https://example.com/first.json',
  status: 'live',
  created_at: '2026-11-21T12:00:00.000Z',
  metadata: null,
}

export const EVENT_FAMILIES: readonly EventFamily[] = [
  {
    title: 'Pools',
    resourceType: 'pool',
    resourceId: "the pool's address",
    fields: storedPool,
    events: {
      'pool.created': {
        when: 'A launch was built. Nothing is on chain yet',
        more: { curve_progress: z.null(), state: z.null(), fee_metrics: z.null() },
        sample: { status: 'pending', curve_progress: null, state: null, fee_metrics: null },
      },
      'pool.live': { when: 'The launch is confirmed: the pool trades', more: evidence },
      'pool.migration_triggered': {
        when: 'The curve is full, and waits for its migration',
        more: evidence,
        sample: { status: 'migration_triggered' },
      },
      'pool.migrated': {
        when: 'The curve has become a DAMM v2 pool',
        more: { ...evidence, migrated_to: address.meta({ description: 'Address of the DAMM v2 pool' }) },
        sample: { status: 'migrated', migrated_to: 'HLKLEZE2fpmaJqNyWHHzNJgZ3kyU9R7Q8fGZBKBTVLqa' },
      },
      'pool.failed': {
        when: 'The launch did not land, or another pool has its ticker',
        more: {
          ...evidence,
          reason: z.enum(['not_seen', 'ticker_taken']).meta({ description: 'Why it failed' }),
          message: z.string().optional().meta({ description: 'With `ticker_taken`: the reason in words' }),
          taken_by: address.optional().meta({ description: 'With `ticker_taken`: the pool that has the ticker' }),
          until: z.string().optional().meta({ description: 'With `ticker_taken`: when the ticker becomes free' }),
        },
        sample: { status: 'failed', reason: 'not_seen' },
      },
    },
    example: { type: 'pool.live', resource_id: POOL, object: { ...examplePool, ...shown } },
  },
  {
    title: 'Fee claims',
    resourceType: 'pool',
    resourceId: "the pool's address",
    fields: feeClaim
      .pick({ id: true, type: true, kind: true, beneficiary: true, claimer: true, occurred_at: true })
      .extend({ pool_address: poolAddress, ...evidence }),
    events: {
      'fee_claim.executed': { when: 'Fees of a pool were claimed' },
      'fee_claim.split_executed': {
        when: 'Fees of a pool were claimed and split in the same transaction',
        more: {
          recipients: z.array(z.record(z.string(), z.unknown())).meta({ description: 'Who received how much' }),
        },
        sample: { type: 'fee_claim.split_executed', recipients: [{ recipient: WALLET, lamports: '148000000' }] },
      },
    },
    example: {
      type: 'fee_claim.executed',
      resource_id: POOL,
      object: {
        id: 'fcl_0Mh4sPqY7tLx2RzKc9BvDn6G',
        type: 'fee_claim.executed',
        pool_address: POOL,
        kind: 'dbc',
        beneficiary: 'partner',
        claimer: WALLET,
        occurred_at: '2026-11-21T12:00:00.000Z',
        ...shown,
      },
    },
  },
  {
    title: 'Stored trees',
    resourceType: 'airdrop',
    resourceId: 'the id of the tree, and of its airdrop',
    fields: merkleTree.extend({ status: airdrop.shape.status }),
    events: { 'airdrop.tree_built': { when: 'A Merkle tree was stored, or replaced' } },
    example: {
      type: 'airdrop.tree_built',
      resource_id: TREE,
      object: {
        id: TREE,
        mint: MINT,
        airdrop_count: 0,
        root: '4b7d2a9f64ad3f1f0ef1d3ac3c9be5b1f47a8fbb9f5a2b8a9a0c2f3d5e6f7a8b',
        root_hex: '0x4b7d2a9f64ad3f1f0ef1d3ac3c9be5b1f47a8fbb9f5a2b8a9a0c2f3d5e6f7a8b',
        leaf_count: 200,
        total: '29327000000',
        total_locked: '0',
        list_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        persisted: true,
        created_by: null,
        created_at: '2026-11-21T12:00:00.000Z',
        status: 'tree_built',
      },
    },
  },
  {
    title: 'Airdrops',
    resourceType: 'airdrop',
    resourceId: 'the id of the airdrop',
    // An airdrop without a stored tree has no record: only what the id and the chain say is known.
    fields: storedAirdrop
      .partial({ root: true, leaf_count: true, status: true, created_at: true, total: true, total_locked: true })
      .extend({
        distributor: address.meta({ description: 'Account of the airdrop' }),
        admin: address
          .optional()
          .meta({ description: 'Wallet that may change the receiver of the rest, if it was read' }),
        ...evidence,
      }),
    events: {
      'airdrop.initialized': { when: 'The distributor is on chain with the root of the tree' },
      'airdrop.claim_started': { when: 'The first wallet has claimed' },
      'airdrop.claimed': {
        when: 'A wallet has claimed: one event for each',
        more: {
          claimer: address.meta({ description: 'Wallet that has claimed' }),
          amount: digits.meta({ description: 'Entitlement that its proof shows, raw units' }),
        },
      },
      'airdrop.fully_claimed': { when: 'Every wallet has claimed, or the whole total' },
      'airdrop.vault_drained': {
        when: 'What was left in the vault was withdrawn',
        more: {
          clawback_receiver: address
            .optional()
            .meta({ description: 'Token account that received it; only without a stored tree' }),
        },
      },
    },
    example: {
      type: 'airdrop.claimed',
      resource_id: TREE,
      object: {
        id: TREE,
        mint: MINT,
        airdrop_count: 0,
        root: '4b7d2a9f64ad3f1f0ef1d3ac3c9be5b1f47a8fbb9f5a2b8a9a0c2f3d5e6f7a8b',
        leaf_count: 200,
        status: 'claiming',
        created_at: '2026-11-21T12:00:00.000Z',
        total: '29327000000',
        total_locked: '0',
        distributor: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
        claimer: WALLET,
        amount: '148000000',
        ...shown,
      },
    },
  },
  {
    title: 'NFTs',
    resourceType: 'nft',
    resourceId: "the asset's address",
    fields: nft.partial({ name: true, uri: true, created_at: true }).extend(evidence),
    events: {
      'nft.created': { when: 'An NFT was minted into a collection' },
      'nft.staked': { when: 'An NFT was frozen for a stake' },
      'nft.unstaked': { when: 'An NFT was thawed again' },
      'nft.burned': { when: 'An NFT was burned' },
    },
    example: {
      type: 'nft.created',
      resource_id: ASSET,
      object: {
        asset: ASSET,
        collection: COLLECTION,
        owner: WALLET,
        name: 'Member #1',
        uri: 'https://example.com/1.json',
        status: 'minted',
        frozen: false,
        created_at: '2026-11-21T12:00:00.000Z',
        ...shown,
      },
    },
  },
  {
    title: 'Stakes',
    resourceType: 'stake',
    resourceId: "the asset's address",
    fields: stake.extend(evidence),
    events: {
      'stake.acquired': { when: 'A wallet has staked an NFT' },
      'stake.released': { when: 'A stake has ended' },
    },
    example: {
      type: 'stake.acquired',
      resource_id: ASSET,
      object: {
        asset: ASSET,
        collection: COLLECTION,
        owner: WALLET,
        status: 'staked',
        platform_id: 'season-1',
        metadata: null,
        ...shown,
      },
    },
  },
  {
    title: 'Gold locks',
    resourceType: 'gold_lock',
    resourceId: 'the wallet that locks, as in `GET /v2/gold-locks/{user}`',
    fields: goldLock.extend(evidence),
    events: {
      'gold.locked': { when: 'A wallet has locked gold tokens' },
      'gold.unlock_eligible': { when: 'The date of a lock is reached' },
      'gold.unlocked': { when: 'The tokens of a lock were taken out' },
    },
    example: {
      type: 'gold.locked',
      resource_id: WALLET,
      object: {
        user: WALLET,
        mint: MINT,
        amount: '5000000',
        unlocks_at: '2027-11-21T12:00:00.000Z',
        status: 'locked',
        escrow: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
        created_at: '2026-11-21T12:00:00.000Z',
        ...shown,
      },
    },
  },
  {
    title: 'Tokens',
    resourceType: 'token',
    resourceId: 'the mint',
    fields: token.pick({ mint: true, status: true }).extend(evidence),
    events: {
      'token.created': { when: 'A token was created' },
      'token.mint_authority_revoked': { when: 'Nobody can mint more of it' },
      'token.freeze_authority_revoked': { when: 'Nobody can freeze its accounts' },
      'token.fully_immutable': { when: 'The last of its authorities was revoked, that of the metadata included' },
    },
    example: { type: 'token.created', resource_id: MINT, object: { mint: MINT, status: 'created', ...shown } },
  },
  {
    title: 'Transactions',
    resourceType: 'transaction',
    resourceId: 'the signature',
    fields: transaction,
    events: {
      'transaction.submitted': { when: 'A signed transaction was stored, before it is sent' },
      'transaction.confirmed': { when: 'It is in a block that most of the stake has voted for' },
      'transaction.finalized': { when: 'It can no longer be undone' },
      'transaction.failed': { when: 'It was executed with an error, has expired, or the relay dropped its bundle' },
    },
    example: {
      type: 'transaction.confirmed',
      resource_id: SIGNATURE,
      object: {
        signature: SIGNATURE,
        lifecycle: 'confirmed',
        confirmation_status: 'confirmed',
        err: null,
        slot: 418_000_150,
        confirmations: 1,
        absence: null,
      },
    },
  },
  {
    title: 'Webhook subscriptions',
    resourceType: 'webhook_subscription',
    resourceId: 'the id of the subscription',
    fields: storedSubscription,
    events: {
      'webhook.test_event': { when: '`svc webhooks test` asked for a delivery to this subscription only' },
    },
    example: {
      type: 'webhook.test_event',
      resource_id: 'whs_0Mh4sPqY7tLx2RzKc9BvDn6G',
      object: {
        id: 'whs_0Mh4sPqY7tLx2RzKc9BvDn6G',
        url: 'https://example.com/hooks',
        enabled_events: ['pool.live'],
        active: true,
        commitment: 'confirmed',
        filter: null,
        secret_preview: '9bX4',
        disabled_reason: null,
        created_at: '2026-11-21T12:00:00.000Z',
        updated_at: '2026-11-21T12:00:00.000Z',
      },
    },
  },
]

/** The family of an event. Throws if none lists it, so that a new event cannot be forgotten. */
export function familyOf(type: EventType): EventFamily {
  const [family, ...others] = EVENT_FAMILIES.filter(({ events }) => type in events)
  if (family === undefined || others.length > 0)
    throw new Error(`src/api/event-catalog.ts lists ${type} ${family ? others.length + 1 : 0} times, not once`)
  return family
}

/** An example of the `data.object` of an event. */
export function sampleObject(type: EventType): Record<string, unknown> {
  const { resourceType, events, example } = familyOf(type)
  const { shape } = objectOf(type)
  const own = Object.entries({ ...example.object, ...events[type]?.sample })
  const known = Object.fromEntries(own.filter(([name]) => Object.hasOwn(shape, name)))
  return { resource_type: resourceType, resource_id: example.resource_id, ...known }
}

/** The fields of an event's `data.object`; any other field is a fault. */
export function objectOf(type: EventType): z.ZodObject {
  const { fields, events, resourceType } = familyOf(type)
  return z.strictObject({
    resource_type: z.literal(resourceType),
    resource_id: z.string(),
    ...fields.shape,
    ...events[type]?.more,
  })
}
