/** The journal of `svc pools create --from`: what was built and signed for each launch, stored before anything is sent. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { fieldsOf, type JournalFields, type JournalKind, ListJournal } from '../lists/journal.ts'
import type { CompleteTransaction } from '../signing/signatures.ts'
import type { RequestedLaunch } from './launch-request.ts'

/** The payer and cluster of a list, the same in every run. */
export type ListTerms = {
  payer: string
  /** The cluster's label; null if only the API knows it. */
  cluster: string | null
}

/** A launch that was started; its pool never changes, so it can exist only once. */
export interface LaunchedEntry {
  /** SHA-256 of the row in hex. */
  sha256: string
  pool: string
  mint: string
  quoteMint: string
  platformPercentage: number
  /** Whether the pool was seen on chain; then nothing else is stored. */
  isLive: boolean
  /** The transactions that are not known to be confirmed, without the keypair's signature. */
  built: Pick<PoolCreated, 'transactions' | 'generated_keys' | 'last_valid_block_height' | 'tracked_resource'> | null
  /** The same, signed; null until then. */
  signed: CompleteTransaction[] | null
  signatures: string[]
  /** The signatures that are confirmed, in their order; older versions stored none. */
  landed?: string[]
}

/** The rows are named by their symbols in capitals. */
export type LaunchListJournal = ListJournal<ListTerms, LaunchedEntry | RequestedLaunch>

/** The entry of a launch that was built; null if it was only requested, or not at all. */
export const launchedOf = <E extends LaunchedEntry>(entry: E | RequestedLaunch | undefined): E | null =>
  entry === undefined || 'requested' in entry ? null : entry

/** What an earlier run has requested, and nothing is known of. */
export const requestedOf = (entry: LaunchedEntry | RequestedLaunch | undefined) =>
  entry !== undefined && 'requested' in entry ? entry.requested : null

/** Whether it is an entry of a launch that was built. */
export const isLaunched = ({ sha256, pool, isLive }: JournalFields) =>
  typeof sha256 === 'string' && typeof pool === 'string' && typeof isLive === 'boolean'

/** Whether it is an entry of a launch that was only requested. */
export function isRequested({ sha256, requested }: JournalFields): boolean {
  const { key, at, bodySha256 } = fieldsOf(requested)
  const isWhole = typeof key === 'string' && Number.isSafeInteger(at) && typeof bodySha256 === 'string'
  return typeof sha256 === 'string' && (requested === null || isWhole)
}

const LAUNCH_JOURNAL: JournalKind<ListTerms> = {
  kind: 'svc-pool-launches',
  command: '`svc pools create --from`',
  doing: 'launching',
  names: { payer: 'the keypair', cluster: 'the cluster' },
  anew: 'launch the list as a new one',
  loss: 'another --journal launches every row again',
  isEntry: (entry) => isRequested(entry) || isLaunched(entry),
}

export const launchListJournal = (file: string, terms: ListTerms): LaunchListJournal =>
  new ListJournal(file, terms, LAUNCH_JOURNAL)
