/** The names of the background workers, in a file that loads nothing else. */
export const WORKER_NAMES = [
  'webhook-delivery',
  'transaction-watcher',
  'pool-migration',
  'gold-unlock-eligible',
  'airdrop-fully-claimed',
] as const
export type WorkerName = (typeof WORKER_NAMES)[number]
