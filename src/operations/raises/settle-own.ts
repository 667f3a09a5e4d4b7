/** Settles a raise of the platform wallet by a worker, within the policy, one transaction after another, each sent once. */
import { Overtaken } from '../../platform/errors.ts'
import { errorLine, redactorOf } from '../../settings/redaction.ts'
import { findRaise, type RaiseRow, replaceSettlement, updateRaise } from '../../store/resources/raises.ts'
import { Proposed } from '../proposals/rule/propose.ts'
import type { SigningContext } from '../signing/types.ts'
import { lastSent, sendOwn, type WorkerServices, workerContext } from '../signing/worker-signing.ts'
import { planSettlement } from './settle-raise.ts'

const FIRST_PAUSE_MS = 10_000
/** Then it is tried once in 23 hours. */
const MOST_DOUBLINGS = 13

/**
 * Does nothing while the last transaction may still land, or is newer than `seen`, the reading by which something is due.
 * One that failed or was refused is built again, at increasing intervals. Throws what the row then says.
 */
export async function settleOwnRaise(services: WorkerServices, row: RaiseRow, seen: { slot: number }): Promise<void> {
  const last = await lastSent(services, row.settle_signing)
  if (last === 'running' || (last !== null && !last.isFailed && last.slot > seen.slot)) return
  if (last?.isFailed) {
    const why = `its transaction failed or was not seen: \`svc tx get ${last.signature}\``
    return noteFailure(services, row, why, row.settle_signing)
  }
  const context = await settlingContext(services, row)
  try {
    await sendOwn(context, 'raise.settle', (payer) => planSettlement(context, { id: row.id, payer, skip_pool: false }))
  } catch (error) {
    if (error instanceof Overtaken) throw error
    const waits = error instanceof Proposed
    await noteFailure(
      services,
      row,
      waits
        ? `it waits for approvals: \`svc proposals show ${error.answer.proposal.id}\``
        : errorLine(error, redactorOf(services.config)),
    )
    if (!waits) throw error
    return
  }
  await services.store.write((tx) =>
    updateRaise(tx, row.id, { settle_error: null, settle_failures: 0, settle_failed_at: null }),
  )
  services.log.info({ raise: row.id }, 'a settlement was sent')
}

/** A policy that refuses now will refuse in a minute, so frequent retries would only fill its log. */
async function noteFailure(
  { store, clock }: WorkerServices,
  row: RaiseRow,
  settle_error: string,
  ended: string | null = null,
): Promise<void> {
  const now = clock.now()
  await store.write(async (tx) => {
    const stored = await findRaise(tx, row.id)
    // Without a planned look, another process has seen that nothing is left to do.
    if (stored === null || stored.next_check_at === null) return
    if (ended !== null && !(await replaceSettlement(tx, row.id, ended, null))) return
    const failures = Number(stored.settle_failures) + 1
    const next = now + FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, MOST_DOUBLINGS)
    await updateRaise(tx, row.id, {
      settle_error,
      settle_failures: failures,
      settle_failed_at: stored.settle_failed_at ?? now,
      // A pool that could not open before the end gets its money then.
      next_check_at: stored.ends_at > now ? Math.min(next, stored.ends_at) : next,
    })
  })
}

/** The settlement as a request, which is carried out once it is approved. */
const settlingContext = (services: WorkerServices, row: RaiseRow): Promise<SigningContext> =>
  workerContext(services, {
    ...{ worker: 'raises', prefix: 'settle', what: `the settlement of ${row.id}` },
    ...{ row, signing: row.settle_signing },
    replace: (tx, from, to) => replaceSettlement(tx, row.id, from, to),
    proposing: {
      request: {
        method: 'post',
        target: `/v2/raises/${row.id}/settlements`,
        fields: { payer: row.creator, mode: 'signed' },
      },
      subject: `settlement of ${row.id}`,
    },
  })
