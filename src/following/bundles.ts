/** Ends bundles that the relay has given up, at once: the chain itself says nothing of them until their blockhash expires. */
import { optionalRead } from '../chain/optional-read.ts'
import { RelayRefusal, relayOf } from '../chain/relay.ts'
import { followedOfBundle } from '../store/transactions.ts'
import type { Budget } from './budget.ts'
import type { MissingTransaction } from './look.ts'
import { rotated } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { bundleFailedTransition } from './transition.ts'
import { writeTransitions } from './write-transitions.ts'

/** Bundles that a block engine answers for in one call; it takes one call a second. */
const BUNDLES_PER_CALL = 5

/**
 * Asks about those of `missing` that belong to bundles, in one call; answers why one could not be ended. They are looked
 * for further, until none of them can land: the relay's answer is no proof.
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
  // A bundle of which one transaction was seen on the chain has landed, whatever the relay says.
  const ended = bundles.filter((rows) => rows.every(({ lifecycle }) => lifecycle === 'submitted')).flat()
  const faults = await writeTransitions(
    services,
    ended.map((row) => ({ row, transition: bundleFailedTransition() })),
    { signal },
  )
  return faults[0]?.error
}

/** A relay that cannot be asked, takes its time or cannot say has given up none: the chain has the last word anyway. */
async function failedAmong({ config, chain, log }: FollowingServices, ids: readonly string[]): Promise<string[]> {
  const askRelay = () =>
    relayOf(config, chain)
      .failed(ids)
      .catch((error) => {
        if (error instanceof RelayRefusal) return []
        throw error
      })
  const failed = await optionalRead(log, 'the relay did not say what became of bundles', async () => askRelay())
  return failed ?? []
}
