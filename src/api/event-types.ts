/** Types of events, for webhook subscriptions and the filter of `GET /v2/events`, and what detects each. */
import { z } from '@hono/zod-openapi'

export const DETECTIONS = ['synchronous', 'tx_confirmed', 'polling_required'] as const
type Detection = (typeof DETECTIONS)[number]

/** How each event is detected: by the request handler, the transaction watcher or a poller. */
export const DETECTION = {
  'pool.created': 'synchronous',
  'pool.live': 'tx_confirmed',
  'pool.migration_triggered': 'polling_required',
  'pool.migrated': 'polling_required',
  'pool.failed': 'polling_required',
  'airdrop.tree_built': 'synchronous',
  'airdrop.initialized': 'tx_confirmed',
  'airdrop.claim_started': 'tx_confirmed',
  'airdrop.claimed': 'tx_confirmed',
  'airdrop.fully_claimed': 'polling_required',
  'airdrop.vault_drained': 'tx_confirmed',
  'stake.acquired': 'tx_confirmed',
  'stake.released': 'tx_confirmed',
  'gold.locked': 'tx_confirmed',
  'gold.unlock_eligible': 'polling_required',
  'gold.unlocked': 'tx_confirmed',
  'nft.created': 'tx_confirmed',
  'nft.staked': 'tx_confirmed',
  'nft.unstaked': 'tx_confirmed',
  'nft.burned': 'tx_confirmed',
  'token.created': 'tx_confirmed',
  'token.mint_authority_revoked': 'tx_confirmed',
  'token.freeze_authority_revoked': 'tx_confirmed',
  'token.fully_immutable': 'tx_confirmed',
  'transaction.submitted': 'synchronous',
  'transaction.confirmed': 'tx_confirmed',
  'transaction.finalized': 'tx_confirmed',
  'transaction.failed': 'tx_confirmed',
  'fee_claim.executed': 'tx_confirmed',
  'fee_claim.split_executed': 'tx_confirmed',
  'webhook.test_event': 'synchronous',
} as const satisfies Record<string, Detection>

export type EventType = keyof typeof DETECTION
export const EVENT_TYPES = Object.keys(DETECTION) as EventType[]
export const eventType = z.enum(EVENT_TYPES).openapi('EventType')
