/** A worker's lease on its name: claimed before a tick, renewed while the tick runs and released at its end. */
import type { Services } from '../../src/context.ts'
import { internal } from '../../src/platform/errors.ts'
import { SECOND_MS } from '../../src/platform/timing.ts'
import { aheadBy, claimLease, findLease, heldLeases, releaseLease, renewLease } from '../../src/store/workers/leases.ts'
import { isDeadOwner } from '../owners.ts'
import type { Timing } from './timing.ts'

/** A lease is renewed this many times within its duration. */
const RENEWALS = 3
/** No remembered answer contains leases. */
const UNSEEN = { isUnseen: true }

interface TakeLeaseOptions {
  name: string
  owner: string
  leaseMs: number
  slot: number | undefined
  timing: Timing
  /** Aborts the tick when this process loses the lease; once aborted, the lease is not renewed. */
  controller: AbortController
  /**
   * Called with the milliseconds by which the stored lease ends implausibly far in the future; 0 if its end is
   * plausible.
   */
  onAhead?: (milliseconds: number) => void
}

interface WorkerLease {
  /**
   * Releases the lease and stores whether the job is `done`. A release that fails is logged, and the lease then
   * expires.
   */
  end(done: boolean): Promise<void>
}

/**
 * Releases the leases of processes that have certainly ended, so that a start after a crash need not wait for them.
 */
export async function releaseDeadLeases({ store, clock, log }: LeaseServices): Promise<void> {
  const dead = (await heldLeases(store.db, clock.now())).filter(({ owner }) => isDeadOwner(owner))
  for (const { name, owner } of dead) {
    await store.write((tx) => releaseLease(tx, { name, owner }), UNSEEN)
    log.info({ worker: name }, 'the lease of an ended process was released')
  }
}

type LeaseServices = Pick<Services, 'store' | 'clock' | 'log'>

/**
 * Claims the lease; null if another process has it or has already done this slot. A lease of an ended process of this
 * host is taken over immediately.
 */
export async function takeLease(
  { store, clock, log }: LeaseServices,
  options: TakeLeaseOptions,
): Promise<WorkerLease | null> {
  const { name, owner, leaseMs, slot, timing, controller, onAhead = () => {} } = options
  let until = 0
  let ahead = 0
  const claimed = await store.write(async (tx) => {
    const now = clock.now()
    until = now + leaseMs
    const before = await findLease(tx, name)
    ahead = before === null ? 0 : aheadBy(before, { now, leaseMs })
    if (before !== null && before.until > now && isDeadOwner(before.owner))
      await releaseLease(tx, { name, owner: before.owner })
    return claimLease(tx, { name, owner, now, leaseMs, ...(slot === undefined ? {} : { slot }) })
  }, UNSEEN)
  onAhead(ahead)
  if (!claimed) return null

  let ended = false
  let renewing: Promise<void> = Promise.resolve()
  const planRenewal = () =>
    timing.after(leaseMs / RENEWALS, () => {
      renewing = renew()
    })
  let cancel = planRenewal()

  /** A process that was suspended loses its lease; the worker goes on when it has the lease again. */
  const lost = (message: string) => internal(message, { retryAfter: Math.ceil(leaseMs / SECOND_MS) })

  async function renew(): Promise<void> {
    if (ended || controller.signal.aborted) return
    try {
      const next = clock.now() + leaseMs
      const isRenewed = await store.write((tx) => renewLease(tx, { name, owner }, next), UNSEEN)
      if (!isRenewed) return controller.abort(lost('the lease was taken over by another process'))
      until = next
    } catch (error) {
      log.warn({ err: error, worker: name }, 'a lease could not be renewed')
      if (clock.now() >= until) return controller.abort(lost('the lease expired because it could not be renewed'))
    }
    if (!ended) cancel = planRenewal()
  }

  return {
    async end(done) {
      ended = true
      cancel()
      await renewing
      await store
        .write((tx) => releaseLease(tx, { name, owner }, done), UNSEEN)
        .catch((error) => log.warn({ err: error, worker: name }, 'a lease could not be released'))
    },
  }
}
