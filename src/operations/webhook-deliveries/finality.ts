/** Releases events to subscriptions that want final ones once their transactions are final, and cancels those that a fork has undone. */
import type { Services } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import {
  eventsAt,
  finalizedSlot,
  releaseUnfinal,
  removeUnfinal,
  type TransactionEnd,
  transactionEnds,
  unfinalDeliveries,
} from '../../store/webhooks/unfinal.ts'

const DELIVERIES_PER_LOOK = 500
/** Pages of one pass, so that new events are queued between passes. */
const PAGES_PER_PASS = 10
/** Time in which a dropped transaction may land again. It is longer than the life of a blockhash. */
const LANDS_AGAIN_MS = 10 * MINUTE_MS
/** Age at which a reading of accounts counts as final if no daemon reads the chain's final slot. */
const OLD_READING_MS = 2 * MINUTE_MS

type FinalEvent = Awaited<ReturnType<typeof eventsAt>>[number]

export interface FinalityFacts {
  /** Result of the event's own transaction; undefined if unknown. */
  end: TransactionEnd | undefined
  finalSlot: number
  now: number
}

/** The signature and slot at which the chain shows the event's content. */
export function evidenceIn({ resource_type, resource_id, object_json }: FinalEvent): {
  signature: string | null
  slot: number | null
} {
  if (resource_type === 'transaction') return { signature: resource_id, slot: null }
  const { signature, slot } = JSON.parse(object_json) as { signature?: unknown; slot?: unknown }
  return {
    signature: typeof signature === 'string' ? signature : null,
    slot: typeof slot === 'number' ? slot : null,
  }
}

/** Whether the event may be sent as final now, never, or later. */
export function finalityOf(event: FinalEvent, { end, finalSlot, now }: FinalityFacts): 'final' | 'undone' | 'open' {
  if (event.type === 'transaction.submitted') return 'final'
  const age = now - event.created_at
  if (end === 'open') return 'open'
  if (end === 'gone') return age > LANDS_AGAIN_MS ? 'undone' : 'open'
  // The transaction may succeed on one fork and fail on another. Only the final result is sent.
  if (end !== undefined) return (end === 'failed') === (event.type === 'transaction.failed') ? 'final' : 'undone'
  const { slot } = evidenceIn(event)
  return slot === null || slot <= finalSlot || age > OLD_READING_MS ? 'final' : 'open'
}

/** Where a look at the deliveries continues, and the resources with an earlier delivery that still waits. */
export interface FinalityLook {
  after: number
  blocked: Set<string>
}

export const newLook = (): FinalityLook => ({ after: 0, blocked: new Set() })

/**
 * Looks at deliveries that wait for finality, in the order of events. Deliveries of one resource keep their order.
 * Ends after some pages, or between two once the signal is aborted, and returns where the next call continues.
 */
export async function releaseFinal(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  look: FinalityLook = newLook(),
  ...signals: readonly AbortSignal[]
): Promise<FinalityLook> {
  let { after } = look
  let limit = DELIVERIES_PER_LOOK
  for (let page = 0; page < PAGES_PER_PASS; page++) {
    if (signals.some(({ aborted }) => aborted)) break
    const rows = await unfinalDeliveries(store.db, after, limit)
    const last = rows.at(-1)
    if (last === undefined) return newLook()
    if (rows.length === limit && last.sequence === rows[0]?.sequence) {
      // One event fills the page. A later event may be released only if all deliveries of this one were seen.
      limit *= 2
      continue
    }
    const { released, undone } = await decided(store.db, rows, look.blocked, clock.now())
    if (released.length > 0 || undone.length > 0) {
      await store.write(async (tx) => {
        await releaseUnfinal(tx, released, clock.now())
        await removeUnfinal(tx, undone)
      })
    }
    if (rows.length < limit) return newLook()
    // Deliveries of one event to several subscriptions may span two pages.
    after = last.sequence - 1
    limit = DELIVERIES_PER_LOOK
  }
  return { after, blocked: look.blocked }
}

async function decided(
  reader: Services['store']['db'],
  rows: Awaited<ReturnType<typeof unfinalDeliveries>>,
  blocked: Set<string>,
  now: number,
): Promise<{ released: number[]; undone: number[] }> {
  const events = await eventsAt(reader, [...new Set(rows.map(({ sequence }) => sequence))])
  const bySequence = new Map(events.map((event) => [event.sequence, event]))
  const signatures = events.flatMap((event) => evidenceIn(event).signature ?? [])
  const ends = await transactionEnds(reader, [...new Set(signatures)])
  const finalSlot = await finalizedSlot(reader)
  const [released, undone]: [number[], number[]] = [[], []]
  for (const { seq, subscription_id, resource, sequence, commitment } of rows) {
    const key = `${subscription_id} ${resource}`
    const event = bySequence.get(sequence)
    // Without the event its delivery ends. A subscription that no longer wants final events does not wait.
    const finality =
      event === undefined ? 'undone' : commitment === 'confirmed' ? 'final' : finalityOf(event, facts(event))
    if (finality === 'undone') undone.push(seq)
    else if (finality === 'final' && !blocked.has(key)) released.push(seq)
    else blocked.add(key)
  }
  return { released, undone }

  function facts(event: FinalEvent): FinalityFacts {
    const { signature } = evidenceIn(event)
    return { end: signature === null ? undefined : ends.get(signature), finalSlot, now }
  }
}
