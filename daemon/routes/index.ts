/** Mounts every route of the contract, only the routes below one path, or those of a daemon with the role `worker`. */
import { paths } from '../../src/api/paths.ts'
import type { RoutePath } from '../../src/api/route.ts'
import type { Mount } from '../mount.ts'

type Resource = keyof typeof paths
type MountResource = (mount: Mount) => void

const RESOURCES: Record<Resource, () => Promise<MountResource>> = {
  accounts: async () => (await import('./accounts.ts')).accountsRoutes,
  airdrops: async () => (await import('./airdrops.ts')).airdropsRoutes,
  apiKeys: async () => (await import('./api-keys.ts')).apiKeysRoutes,
  approvers: async () => (await import('./approvers.ts')).approversRoutes,
  auditEntries: async () => (await import('./audit-entries.ts')).auditEntriesRoutes,
  collections: async () => (await import('./collections.ts')).collectionsRoutes,
  events: async () => (await import('./events.ts')).eventsRoutes,
  feeClaims: async () => (await import('./fee-claims.ts')).feeClaimsRoutes,
  feeSchedules: async () => (await import('./fee-schedules.ts')).feeSchedulesRoutes,
  goldLocks: async () => (await import('./gold-locks.ts')).goldLocksRoutes,
  holderSnapshots: async () => (await import('./holder-snapshots.ts')).holderSnapshotsRoutes,
  ledger: async () => (await import('./ledger.ts')).ledgerRoutes,
  locks: async () => (await import('./locks.ts')).locksRoutes,
  merkleTrees: async () => (await import('./merkle-trees.ts')).merkleTreesRoutes,
  multisigs: async () => (await import('./multisigs.ts')).multisigsRoutes,
  nfts: async () => (await import('./nfts.ts')).nftsRoutes,
  payRequests: async () => (await import('./pay-requests.ts')).payRequestsRoutes,
  pdas: async () => (await import('./pdas.ts')).pdasRoutes,
  positions: async () => (await import('./positions.ts')).positionsRoutes,
  pools: async () => (await import('./pools.ts')).poolsRoutes,
  proposals: async () => (await import('./proposals.ts')).proposalsRoutes,
  rentReclaims: async () => (await import('./rent-reclaims.ts')).rentReclaimsRoutes,
  programs: async () => (await import('./programs.ts')).programsRoutes,
  service: async () => (await import('./service.ts')).serviceRoutes,
  signer: async () => (await import('./signer.ts')).signerRoutes,
  sponsorships: async () => (await import('./sponsorships.ts')).sponsorshipsRoutes,
  solTransfers: async () => (await import('./sol-transfers.ts')).solTransfersRoutes,
  stakes: async () => (await import('./stakes.ts')).stakesRoutes,
  storage: async () => (await import('./storage.ts')).storageRoutes,
  tokenTransfers: async () => (await import('./token-transfers.ts')).tokenTransfersRoutes,
  tokens: async () => (await import('./tokens.ts')).tokensRoutes,
  transactions: async () => (await import('./transactions.ts')).transactionsRoutes,
  webhookSubscriptions: async () => (await import('./webhook-subscriptions.ts')).webhookSubscriptionsRoutes,
}

/** Mounts the routes of every resource. */
export async function mountRoutes(mount: Mount): Promise<void> {
  for (const mountResource of await Promise.all(Object.values(RESOURCES).map((load) => load()))) mountResource(mount)
}

/** The routes of a daemon with the role `worker`. */
export async function workerRoutes(mount: Mount): Promise<void> {
  const { healthRoutes } = await import('./service.ts')
  healthRoutes(mount)
}

/** The first segment of a path below /v2: `pools` for `/v2/pools/{address}/swaps`. */
export const pathHead = (path: string): string => path.split(/[/?]/)[2] ?? ''

/** Mounts only resources with a route below `/v2/HEAD`, so a command without a daemon loads no other. */
export async function mountBelow(mount: Mount, head: string): Promise<void> {
  const names = (Object.keys(RESOURCES) as Resource[]).filter((name) =>
    (Object.values(paths[name]) as RoutePath[]).some(([, path]) => pathHead(path) === head),
  )
  for (const mountResource of await Promise.all(names.map((name) => RESOURCES[name]()))) mountResource(mount)
}
