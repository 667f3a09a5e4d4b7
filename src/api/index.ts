/** The whole API: every route under the names of its resource and its verb, and the shapes of the records. */
import { accounts } from './accounts.ts'
import { airdrops } from './airdrops.ts'
import { apiKeys } from './api-keys.ts'
import { approvers } from './approvers.ts'
import { attention } from './attention.ts'
import { auditEntries } from './audit-entries.ts'
import { collections } from './collections.ts'
import { consoleSessions } from './console-sessions.ts'
import { events } from './events.ts'
import { feeClaims } from './fee-claims.ts'
import { feeSchedules } from './fee-schedules.ts'
import { goldLocks } from './gold-locks.ts'
import { holderSnapshots } from './holder-snapshots.ts'
import { ledger } from './ledger.ts'
import { locks } from './locks.ts'
import { merkleTrees } from './merkle-trees.ts'
import { multisigs } from './multisigs.ts'
import { nfts } from './nfts.ts'
import { payRequests } from './pay-requests.ts'
import { pdas } from './pdas.ts'
import { poolPositions } from './pool-positions.ts'
import { pools } from './pools.ts'
import { programs } from './programs.ts'
import { proposals } from './proposals.ts'
import { raises } from './raises.ts'
import { rentReclaims } from './rent-reclaims.ts'
import type { AnyRoute } from './route.ts'
import { service } from './service.ts'
import { signer } from './signer.ts'
import { solTransfers } from './sol-transfers.ts'
import { sponsorships } from './sponsorships.ts'
import { stakes } from './stakes.ts'
import { storage } from './storage.ts'
import { tokenActs } from './token-acts.ts'
import { tokenExtensionActs } from './token-extensions.ts'
import { tokenReports } from './token-report.ts'
import { tokenTransfers } from './token-transfers.ts'
import { tokenUpdates } from './token-updates.ts'
import { tokens } from './tokens.ts'
import { transactions } from './transactions.ts'
import { webhookSubscriptions } from './webhook-subscriptions.ts'

export const api = {
  service,
  attention,
  pools,
  positions: poolPositions,
  feeClaims,
  feeSchedules,
  airdrops,
  sponsorships,
  merkleTrees,
  holderSnapshots,
  stakes,
  nfts,
  collections,
  goldLocks,
  locks,
  tokens: { ...tokens, ...tokenReports, ...tokenExtensionActs, ...tokenActs, ...tokenUpdates },
  solTransfers,
  tokenTransfers,
  raises,
  rentReclaims,
  transactions,
  payRequests,
  accounts,
  pdas,
  programs,
  multisigs,
  proposals,
  storage,
  events,
  webhookSubscriptions,
  signer,
  ledger,
  auditEntries,
  apiKeys,
  approvers,
  consoleSessions,
} satisfies Record<string, Record<string, AnyRoute>>

export type Api = typeof api

export * from './accounts.ts'
export * from './airdrop-claims.ts'
export * from './airdrops.ts'
export * from './api-keys.ts'
export * from './approvers.ts'
export * from './attention.ts'
export * from './attention-kinds.ts'
export * from './audit-entries.ts'
export * from './collections.ts'
export * from './console-sessions.ts'
export * from './creator-transfers.ts'
export * from './events.ts'
export * from './extension-fields.ts'
export * from './fee-claims.ts'
export * from './fee-schedules.ts'
export * from './gold-locks.ts'
export * from './holder-snapshots.ts'
export * from './ledger.ts'
export * from './locks.ts'
export * from './merkle-trees.ts'
export * from './multisigs.ts'
export * from './nfts.ts'
export * from './pay-requests.ts'
export type { TrackedResource } from './payloads.ts'
export * from './pdas.ts'
export * from './pool-earnings.ts'
export * from './pool-positions.ts'
export * from './pool-presets.ts'
export * from './pool-previews.ts'
export * from './pool-rehearsals.ts'
export * from './pools.ts'
export * from './position-transfers.ts'
export * from './programs.ts'
export * from './proposals.ts'
export * from './raises.ts'
export * from './rent-reclaims.ts'
export * from './service.ts'
export * from './signer.ts'
export * from './sponsorships.ts'
export * from './stakes.ts'
export * from './storage.ts'
export * from './token-acts.ts'
export * from './token-extensions.ts'
export * from './token-report.ts'
export * from './token-transfers.ts'
export * from './token-updates.ts'
export * from './tokens.ts'
export * from './transactions.ts'
export * from './webhook-subscriptions.ts'
export * from './worker-names.ts'
