/** Ends bundles that the relay has given up, at once: the chain itself says nothing of them until their blockhash expires. */
import { RelayRefusal, relayOf } from '../../../chain/relay.ts'
import { bundleRows, type Followed } from '../../../store/transactions.ts'
import { optionalRead } from '../../optional-read.ts'
import type { Budget } from './budget.ts'
import { type FollowServices, writeMoves } from './look.ts'
import { bundleFailedStep } from './transition.ts'

/** Bundles that a block engine tells of in one call; it takes one call a second. */
const BUNDLES_PER_CALL = 5
const ROUND_MS = 2_000

/**
 * Asks about those of `missing` that belong to bundles, in one call; answers why one could not be ended. They are looked
 * for further, until none of them can land: the relay's word is no proof.
 */
export async function endFailedBundles(
  services: FollowServices,
  missing: readonly { row: Followed }[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  const waiting = missing.filter(({ row }) => row.lifecycle === 'submitted').map(({ row }) => row.bundle_id)
  const ids = inTurn(
    [...new Set(waiting)].filter((id) => id !== null),
    services.clock.now(),
  )
  if (ids.length === 0 || !budget.take()) return undefined
  const failed = await failedAmong(services, ids)
  const bundles = await Promise.all(failed.map((id) => bundleRows(services.store.db, id)))
  // One that was seen on the chain has landed, whatever the relay says.
  const over = bundles.filter((rows) => rows.every(({ lifecycle }) => lifecycle === 'submitted')).flat()
  const faults = await writeMoves(
    services,
    over.map((row) => ({ row, step: bundleFailedStep() })),
    { signal },
  )
  return faults[0]?.error
}

/** Where there are more than one call tells of, each comes first at some time. */
function inTurn(ids: readonly string[], now: number): string[] {
  const first = ids.length === 0 ? 0 : (Math.floor(now / ROUND_MS) * BUNDLES_PER_CALL) % ids.length
  return [...ids.slice(first), ...ids.slice(0, first)].slice(0, BUNDLES_PER_CALL)
}

/** A relay that cannot be asked, takes its time or cannot say has given up none: the chain has the last word anyway. */
async function failedAmong({ config, chain, log }: FollowServices, ids: readonly string[]): Promise<string[]> {
  const ask = () =>
    relayOf(config, chain)
      .failed(ids)
      .catch((error) => {
        if (error instanceof RelayRefusal) return []
        throw error
      })
  return (await optionalRead(log, 'the relay did not say what became of bundles', async () => ask())) ?? []
}
