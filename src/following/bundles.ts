/** Ends bundles as soon as the relay reports that they failed. The chain itself shows a failure only when the blockhash expires. */
import { optionalRead } from '../chain/reads/optional-read.ts'
import { RelayRefusal, relayOf } from '../chain/sending/relay.ts'
import { followedOfBundle } from '../store/transactions/transactions.ts'
import type { Budget } from './budget.ts'
import type { MissingTransaction } from './look.ts'
import { rotated } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { bundleFailedTransition } from './transition.ts'
import { writeTransitions } from './write-transitions.ts'

/** Number of bundles in one status request to a block engine, which accepts one request per second. */
const BUNDLES_PER_CALL = 5

/**
 * Requests the status of bundles among `missing` in one call, and returns the first error of ending one. Their
 * transactions are still looked for until they expire, because the relay's answer proves nothing.
 */
export async function endFailedBundles(
  services: FollowingServices,
  missing: readonly MissingTransaction[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  const submitted = missing.filter(({ row }) => row.lifecycle === 'submitted').map(({ row }) => row.bundle_id)
  const bundleIds = [...new Set(submitted)].filter((id) => id !== null)
  const ids = rotated(bundleIds, BUNDLES_PER_CALL, services.clock.now()).slice(0, BUNDLES_PER_CALL)
  if (ids.length === 0 || !budget.take()) return undefined
  const failed = await failedAmong(services, ids)
  const bundles = await Promise.all(failed.map((id) => followedOfBundle(services.store.db, id)))
  // A bundle has landed once one of its transactions was seen on the chain, whatever the relay reports.
  const ended = bundles.filter((rows) => rows.every(({ lifecycle }) => lifecycle === 'submitted')).flat()
  const faults = await writeTransitions(
    services,
    ended.map((row) => ({ row, transition: bundleFailedTransition() })),
    { signal },
  )
  return faults[0]?.error
}

/** If the relay is slow, unreachable or does not know, no bundle counts as failed; the chain decides. */
async function failedAmong({ config, chain, log }: FollowingServices, ids: readonly string[]): Promise<string[]> {
  const askRelay = () =>
    relayOf(config, chain)
      .failed(ids)
      .catch((error) => {
        if (error instanceof RelayRefusal) return []
        throw error
      })
  const failed = await optionalRead(log, 'the relay did not report the status of bundles', async () => askRelay())
  return failed ?? []
}
