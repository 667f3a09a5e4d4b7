/** Types of events, for webhook subscriptions and the filter of `GET /v2/events`. */
import { z } from '@hono/zod-openapi'

export const EVENT_TYPES = [
  'pool.created',
  'pool.live',
  'pool.migration_triggered',
  'pool.migrated',
  'pool.failed',
  'airdrop.tree_built',
  'airdrop.initialized',
  'airdrop.claim_started',
  'airdrop.claimed',
  'airdrop.fully_claimed',
  'airdrop.vault_drained',
  'stake.acquired',
  'stake.released',
  'gold.locked',
  'gold.unlock_eligible',
  'gold.unlocked',
  'nft.created',
  'nft.staked',
  'nft.unstaked',
  'nft.burned',
  'token.created',
  'token.mint_authority_revoked',
  'token.freeze_authority_revoked',
  'token.fully_immutable',
  'transaction.submitted',
  'transaction.confirmed',
  'transaction.finalized',
  'transaction.failed',
  'fee_claim.executed',
  'fee_claim.split_executed',
  'webhook.test_event',
] as const
export type EventType = (typeof EVENT_TYPES)[number]
export const eventType = z.enum(EVENT_TYPES).openapi('EventType')
