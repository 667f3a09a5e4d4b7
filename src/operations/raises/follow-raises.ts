/** Follows the raises that are recorded here, and settles those of the platform wallet that are left to the worker. */
import { RAISES_PER_CALL, type Raise, readRaises } from '../../chain/programs/presale/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { Overtaken } from '../../platform/errors.ts'
import { errorLine, redactorOf } from '../../settings/redaction.ts'
import {
  dueRaises,
  findRaise,
  isAnyRaiseDue,
  type RaiseRow,
  replaceSettlement,
  updateRaise,
} from '../../store/resources/raises.ts'
import { addRaisePool } from '../pools/transitions.ts'
import { Proposed } from '../proposals/rule/propose.ts'
import {
  lastSent,
  type SendingRound,
  sendEach,
  sendOwn,
  type WorkerServices,
  workerContext,
} from '../signing/worker-signing.ts'
import { rowStateOf, unseenLook } from './record.ts'
import { planOf, planSettlement, readSettlement, type Settlement } from './settle-raise.ts'

interface Reading {
  raise: Raise | null
  at: ChainTime
}
type Step = Awaited<ReturnType<typeof stepOf>>

/** Runs one round over the raises that are due. Throws as `follow` does. */
export async function followRaises(services: WorkerServices, options: SendingRound = {}): Promise<void> {
  const { store, chain, clock } = services
  const due = new Map<string, { slot: number }>()
  const rounds: Follower<RaiseRow, Reading, Step> = {
    named: ({ id }) => ({ raise: id }),
    due: async () =>
      (await isAnyRaiseDue(store.db, clock.now()))
        ? dueRaises(store.db, await chain.genesisHash(), clock.now(), RAISES_PER_CALL)
        : [],
    perRead: RAISES_PER_CALL,
    async read(rows) {
      const ids = rows.map(({ id }) => id)
      const { at, raises } = await readRaises(chain, ids)
      return raises.map((raise) => ({ raise, at }))
    },
    decide: (row, reading) => stepOf(services, row, reading),
    isWrittenAlone: true,
    async write(tx, row, { changes, settles, slot }) {
      const { id } = row
      await updateRaise(tx, id, changes)
      if (settles) due.set(id, { slot })
      const { pool_address = null } = changes
      const isNew = pool_address !== null && row.pool_address === null
      return isNew ? addRaisePool(services, tx, pool_address, row, { slot }) : []
    },
    postpone: (tx, { id }, next_check_at) => updateRaise(tx, id, { next_check_at }),
  }
  try {
    await follow(services, rounds, options.signal)
  } finally {
    await sendEach(services, 'raise', due, options, async (id, seen) => {
      const row = await findRaise(store.db, id)
      if (row !== null) await settleOwnRaise(services, row, seen)
    })
  }
}

/** What is written, and whether something is due that the worker does. */
async function stepOf({ chain, clock }: WorkerServices, row: RaiseRow, { raise, at }: Reading) {
  const times = { chainSeconds: at.unixSeconds, now: clock.now() }
  const { slot } = at
  const unseen: Partial<RaiseRow> = { next_check_at: unseenLook(row, times) }
  if (raise === null) return { changes: unseen, settles: false, slot }
  const plan = planOf(row)
  const settles = row.settle === 1
  const isOpening = plan !== null && row.pool_address === null
  const settlement = settles || isOpening ? await readSettlement(chain, { raise, at }, plan) : null
  const pool_address = row.pool_address ?? (settlement === null ? null : openedPool(settlement))
  const state = rowStateOf(raise, times, { ...row, pool_address })
  const isDue = settles && settlement !== null && (settlement.due.acts.length > 0 || settlement.due.blocked !== null)
  return { changes: { ...state, pool_address }, settles: isDue, slot }
}

/** The planned pool, once it has what it should have at this time. */
function openedPool({ state: { pool, plan }, due: { blocked, pool: missing } }: Settlement): string | null {
  return plan === null || pool === null || blocked !== null || missing !== null ? null : pool.address
}

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
  const context = await workerContext(services, {
    ...{ worker: 'raises', prefix: 'settle', what: `the settlement of ${row.id}` },
    ...{ row, signing: row.settle_signing },
    replace: (tx, from, to) => replaceSettlement(tx, row.id, from, to),
    // The settlement as a request, which is carried out once it is approved.
    proposing: {
      request: {
        ...{ method: 'post', target: `/v2/raises/${row.id}/settlements` },
        fields: { payer: row.creator, mode: 'signed' },
      },
      subject: `settlement of ${row.id}`,
    },
  })
  try {
    await sendOwn(context, 'raise.settle', (payer) => planSettlement(context, { id: row.id, payer, skip_pool: false }))
  } catch (error) {
    if (error instanceof Overtaken) throw error
    const waits =
      error instanceof Proposed && `it waits for approvals: \`svc proposals show ${error.answer.proposal.id}\``
    await noteFailure(services, row, waits || errorLine(error, redactorOf(services.config)))
    if (waits) return
    throw error
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
