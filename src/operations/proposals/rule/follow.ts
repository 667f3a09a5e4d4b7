/** Ends proposals of rules that have expired or whose transaction has, and executes those that were approved when a process ended. */
import { MINUTE_MS } from '../../../platform/timing.ts'
import { lockProposal, openRuleProposals } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { endUnsigned } from './end-waiting.ts'
import { type ExecutingServices, tryExecute } from './execute.ts'
import { followOutcomes } from './outcome.ts'
import { MOST_OPEN } from './propose.ts'

/** Whoever approved it last executes it within this time, or has ended. */
const ABANDONED_AFTER_MS = MINUTE_MS / 2

/** A proposal with a fault waits until somebody executes it again. */
export async function followRuleProposals(
  services: ExecutingServices,
  { stopping }: { stopping?: AbortSignal } = {},
): Promise<void> {
  const { store, clock } = services
  await followOutcomes(services, stopping)
  for (const row of await openRuleProposals(store.db, MOST_OPEN)) {
    if (stopping?.aborted) return
    const now = clock.now()
    if ((row.expires_at ?? 0) <= now && (await expire(services, row))) continue
    const isAbandoned = now - row.updated_at >= ABANDONED_AFTER_MS
    if (row.status === 'approved' && row.fault === null && isAbandoned) await tryExecute(services, row.id)
  }
}

/** Returns whether the proposal has expired. One of which a transaction is signed already goes on. */
async function expire(
  { store, clock, vault }: ExecutingServices,
  { id }: Pick<Row<'proposals'>, 'id'>,
): Promise<boolean> {
  const now = clock.now()
  const by = { actor: { apiKeyId: 'worker:proposals', scopes: [] }, requestId: id, clock, vault }
  return store.write(async (tx) => {
    const row = await lockProposal(tx, id)
    if (row === null || (row.status !== 'active' && row.status !== 'approved')) return true
    if ((row.expires_at ?? 0) > now) return false
    return (await endUnsigned(by, tx, row, { status: 'expired', fault: null })) !== null
  })
}
