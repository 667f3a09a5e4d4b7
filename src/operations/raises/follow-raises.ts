/** Follows the raises that are recorded here, and settles those that are left to the worker. */
import { RAISES_PER_CALL, type Raise, readRaises } from '../../chain/programs/presale/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { Overtaken } from '../../platform/errors.ts'
import { dueRaises, findRaise, isAnyRaiseDue, type RaiseRow, updateRaise } from '../../store/resources/raises.ts'
import { addRaisePool } from '../pools/transitions.ts'
import type { WorkerServices } from '../signing/worker-signing.ts'
import { rowStateOf, unseenLook } from './record.ts'
import { settleOwnRaise } from './settle-own.ts'
import { planOf, readSettlement, type Settlement } from './settlement.ts'

interface RaiseRoundOptions {
  signal?: AbortSignal | undefined
  stopping?: AbortSignal | undefined
  /** Shows why a settlement was not sent, although the round goes on. */
  report?: ((error: unknown) => void) | undefined
}

interface Reading {
  raise: Raise | null
  at: ChainTime
}

interface Step {
  changes: Partial<RaiseRow>
  /** Whether something is due that the worker does. */
  settles: boolean
  slot: number
}

/** Runs one round over the raises that are due. Throws as `follow` does. */
export async function followRaises(services: WorkerServices, options: RaiseRoundOptions = {}): Promise<void> {
  const { store, chain, clock } = services
  const due: { id: string; slot: number }[] = []
  const rounds: Follower<RaiseRow, Reading, Step> = {
    named: ({ id }) => ({ raise: id }),
    due: async () =>
      (await isAnyRaiseDue(store.db, clock.now()))
        ? dueRaises(store.db, await chain.genesisHash(), clock.now(), RAISES_PER_CALL)
        : [],
    perRead: RAISES_PER_CALL,
    async read(rows) {
      const { at, raises } = await readRaises(
        chain,
        rows.map(({ id }) => id),
      )
      return raises.map((raise) => ({ raise, at }))
    },
    decide: (row, reading) => stepOf(services, row, reading),
    isWrittenAlone: true,
    async write(tx, row, { changes, settles, slot }) {
      const { id } = row
      await updateRaise(tx, id, changes)
      if (settles) due.push({ id, slot })
      const { pool_address } = changes
      return pool_address == null || row.pool_address !== null
        ? []
        : addRaisePool(services, tx, pool_address, row, { slot })
    },
    postpone: (tx, { id }, next_check_at) => updateRaise(tx, id, { next_check_at }),
  }
  try {
    await follow(services, rounds, options.signal)
  } finally {
    await settleAll(services, due, options)
  }
}

async function stepOf({ chain, clock }: WorkerServices, row: RaiseRow, { raise, at }: Reading): Promise<Step> {
  const times = { chainSeconds: at.unixSeconds, now: clock.now() }
  if (raise === null) return { changes: { next_check_at: unseenLook(row, times) }, settles: false, slot: at.slot }
  const plan = planOf(row)
  const settles = row.settle === 1
  const isOpening = plan !== null && row.pool_address === null
  const settlement = settles || isOpening ? await readSettlement(chain, { raise, at }, plan) : null
  const pool_address = row.pool_address ?? (settlement === null ? null : openedPool(settlement))
  const state = rowStateOf(raise, times, { ...row, pool_address })
  const isDue = settles && settlement !== null && (settlement.due.acts.length > 0 || settlement.due.blocked !== null)
  return { changes: { ...state, pool_address }, settles: isDue, slot: at.slot }
}

/** The planned pool, once it has what it should have at this time. */
function openedPool({ state: { pool, plan }, due: { blocked, pool: missing } }: Settlement): string | null {
  return plan === null || pool === null || blocked !== null || missing !== null ? null : pool.address
}

/** One that fails does not stop the others. */
async function settleAll(
  services: WorkerServices,
  due: readonly { id: string; slot: number }[],
  { signal, stopping, report }: RaiseRoundOptions,
): Promise<void> {
  for (const { id, slot } of due) {
    signal?.throwIfAborted()
    if (stopping?.aborted) return
    const row = await findRaise(services.store.db, id)
    if (row === null) continue
    try {
      await settleOwnRaise(services, row, { slot })
    } catch (error) {
      if (error instanceof Overtaken) {
        services.log.debug({ raise: id, why: error.message }, 'another process has taken over a settlement')
        continue
      }
      services.log.error({ err: error, raise: id }, 'a raise could not be settled')
      report?.(new Error(`raise ${id}: ${error instanceof Error ? error.message : String(error)}`))
    }
  }
}
