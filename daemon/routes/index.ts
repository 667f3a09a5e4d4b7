/** Mounts every route of the contract, or those that a daemon without requests serves. */
import type { Mount } from '../mount.ts'
import { accountsRoutes } from './accounts.ts'
import { airdropsRoutes } from './airdrops.ts'
import { apiKeysRoutes } from './api-keys.ts'
import { auditEntriesRoutes } from './audit-entries.ts'
import { collectionsRoutes } from './collections.ts'
import { eventsRoutes } from './events.ts'
import { feeClaimsRoutes } from './fee-claims.ts'
import { goldLocksRoutes } from './gold-locks.ts'
import { merkleTreesRoutes } from './merkle-trees.ts'
import { nftsRoutes } from './nfts.ts'
import { pdasRoutes } from './pdas.ts'
import { poolsRoutes } from './pools.ts'
import { healthRoutes, serviceRoutes } from './service.ts'
import { signerRoutes } from './signer.ts'
import { stakesRoutes } from './stakes.ts'
import { storageRoutes } from './storage.ts'
import { tokensRoutes } from './tokens.ts'
import { transactionsRoutes } from './transactions.ts'
import { webhookSubscriptionsRoutes } from './webhook-subscriptions.ts'

export function mountRoutes(mount: Mount): void {
  accountsRoutes(mount)
  airdropsRoutes(mount)
  apiKeysRoutes(mount)
  auditEntriesRoutes(mount)
  collectionsRoutes(mount)
  eventsRoutes(mount)
  feeClaimsRoutes(mount)
  goldLocksRoutes(mount)
  merkleTreesRoutes(mount)
  nftsRoutes(mount)
  pdasRoutes(mount)
  poolsRoutes(mount)
  serviceRoutes(mount)
  signerRoutes(mount)
  stakesRoutes(mount)
  storageRoutes(mount)
  tokensRoutes(mount)
  transactionsRoutes(mount)
  webhookSubscriptionsRoutes(mount)
}

/** The routes of a daemon with the role `worker`. */
export const workerRoutes = (mount: Mount): void => healthRoutes(mount)
