/** Mounts the routes below one path alone, for a command that answers its own requests: it loads no other resource. */
import { paths, type RoutePath } from '../../src/api/paths.ts'
import type { Mount } from '../mount.ts'

type Resource = keyof typeof paths
type MountResource = (mount: Mount) => void

const RESOURCES: Record<Resource, () => Promise<MountResource>> = {
  accounts: async () => (await import('./accounts.ts')).accountsRoutes,
  airdrops: async () => (await import('./airdrops.ts')).airdropsRoutes,
  apiKeys: async () => (await import('./api-keys.ts')).apiKeysRoutes,
  auditEntries: async () => (await import('./audit-entries.ts')).auditEntriesRoutes,
  collections: async () => (await import('./collections.ts')).collectionsRoutes,
  events: async () => (await import('./events.ts')).eventsRoutes,
  feeClaims: async () => (await import('./fee-claims.ts')).feeClaimsRoutes,
  goldLocks: async () => (await import('./gold-locks.ts')).goldLocksRoutes,
  merkleTrees: async () => (await import('./merkle-trees.ts')).merkleTreesRoutes,
  nfts: async () => (await import('./nfts.ts')).nftsRoutes,
  pdas: async () => (await import('./pdas.ts')).pdasRoutes,
  pools: async () => (await import('./pools.ts')).poolsRoutes,
  service: async () => (await import('./service.ts')).serviceRoutes,
  signer: async () => (await import('./signer.ts')).signerRoutes,
  stakes: async () => (await import('./stakes.ts')).stakesRoutes,
  storage: async () => (await import('./storage.ts')).storageRoutes,
  tokens: async () => (await import('./tokens.ts')).tokensRoutes,
  transactions: async () => (await import('./transactions.ts')).transactionsRoutes,
  webhookSubscriptions: async () => (await import('./webhook-subscriptions.ts')).webhookSubscriptionsRoutes,
}

/** What the paths of one app have in common: `pools` for `/v2/pools/{address}/swaps`. */
export const collectionOf = (path: string): string => path.split(/[/?]/)[2] ?? ''

/** Mounts every resource that has a route whose path begins with that of the collection. */
export async function mountCollection(mount: Mount, collection: string): Promise<void> {
  const names = (Object.keys(RESOURCES) as Resource[]).filter((name) =>
    (Object.values(paths[name]) as RoutePath[]).some(([, path]) => collectionOf(path) === collection),
  )
  for (const mountResource of await Promise.all(names.map((name) => RESOURCES[name]()))) mountResource(mount)
}
