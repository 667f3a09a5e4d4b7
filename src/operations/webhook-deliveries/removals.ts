/** Deletes the queued deliveries and attempt records of removed subscriptions, in limited steps. */
import type { Services } from '../../context.ts'
import { deleteRemoval, removalsAfter, removeRemains } from '../../store/webhooks/removals.ts'
import { inSteps } from '../../store/writing/in-steps.ts'

/** Time after which attempts that were in progress at the removal are recorded. */
const SETTLED_MS = 60_000
const REMOVALS_PER_READ = 100

export async function finishRemovals(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  for (let after = 0; ; ) {
    const removals = await removalsAfter(store.db, after, REMOVALS_PER_READ)
    for (const { seq, subscription_id, removed_at } of removals) {
      await inSteps(store, (tx, limit) => removeRemains(tx, subscription_id, limit), ...signals)
      if (signals.some(({ aborted }) => aborted)) return
      if (removed_at + SETTLED_MS <= clock.now()) await store.write((tx) => deleteRemoval(tx, seq))
      after = seq
    }
    if (removals.length < REMOVALS_PER_READ) return
  }
}
