/** Releases events to subscriptions that want final ones, and cancels those that a fork has undone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import type { Reader } from '../../store/store.ts'
import {
  eventsAt,
  finalizedSlot,
  releaseUnfinal,
  removeUnfinal,
  type TransactionEnd,
  transactionEnds,
  type UnfinalDelivery,
  unfinalDeliveries,
} from '../../store/webhooks/unfinal.ts'

const DELIVERIES_PER_PAGE = 500
/** Time in which a dropped transaction may land again. It is longer than the life of a blockhash. */
const LANDS_AGAIN_MS = 10 * MINUTE_MS
/** Age at which a reading of accounts counts as final if no daemon reads the chain's final slot. */
const OLD_READING_MS = 2 * MINUTE_MS

type FinalEvent = Awaited<ReturnType<typeof eventsAt>>[number]
type Finality = 'final' | 'undone' | 'open'

export interface FinalityFacts {
  /** Result of the event's own transaction; undefined if unknown. */
  end: TransactionEnd | undefined
  finalSlot: number
  now: number
}

/** The signature and slot at which the chain shows the event's content. */
function evidenceIn({ resource_type, resource_id, object_json }: FinalEvent): {
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
export function finalityOf(event: FinalEvent, { end, finalSlot, now }: FinalityFacts): Finality {
  if (event.type === 'transaction.submitted') return 'final'
  const age = now - event.created_at
  if (end === 'open') return 'open'
  if (end === 'gone') return age > LANDS_AGAIN_MS ? 'undone' : 'open'
  // The transaction may succeed on one fork and fail on another. Only the final result is sent.
  if (end !== undefined) return (end === 'failed') === (event.type === 'transaction.failed') ? 'final' : 'undone'
  const { slot } = evidenceIn(event)
  return slot === null || slot <= finalSlot || age > OLD_READING_MS ? 'final' : 'open'
}

/**
 * Looks at deliveries that wait for finality, in the order of events. Those of one resource keep their order. Ends
 * between two pages once a signal is aborted.
 */
export async function releaseFinal(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  const blocked = new Set<string>()
  let [after, limit] = [0, DELIVERIES_PER_PAGE]
  while (!signals.some(({ aborted }) => aborted)) {
    const rows = await unfinalDeliveries(store.db, after, limit)
    const last = rows.at(-1)
    if (last === undefined) return
    const isFull = rows.length === limit
    if (isFull && last.sequence === rows[0]?.sequence) {
      // One event fills the page. A later event may be released only if all deliveries of this one were seen.
      limit *= 2
      continue
    }
    const { released, undone } = await decide(store.db, rows, blocked, clock.now())
    if (released.length > 0 || undone.length > 0) {
      await store.write(async (tx) => {
        await releaseUnfinal(tx, released, clock.now())
        await removeUnfinal(tx, undone)
      })
    }
    if (!isFull) return
    // Deliveries of one event to several subscriptions may span two pages.
    after = last.sequence - 1
    limit = DELIVERIES_PER_PAGE
    await nextTurn()
  }
}

/** Adds to `blocked` each resource of a subscription with a delivery that still waits; later ones wait for it. */
async function decide(
  reader: Reader,
  rows: readonly UnfinalDelivery[],
  blocked: Set<string>,
  now: number,
): Promise<{ released: number[]; undone: number[] }> {
  const [released, undone]: [number[], number[]] = [[], []]
  const finalities = await finalitiesOf(reader, [...new Set(rows.map(({ sequence }) => sequence))], now)
  for (const { seq, subscription_id, resource, sequence, commitment } of rows) {
    const key = `${subscription_id} ${resource}`
    const known = finalities.get(sequence)
    // Without the event its delivery ends. A subscription that no longer wants final events does not wait.
    const finality = known === undefined ? 'undone' : commitment === 'confirmed' ? 'final' : known
    if (finality === 'undone') undone.push(seq)
    else if (finality === 'final' && !blocked.has(key)) released.push(seq)
    else blocked.add(key)
  }
  return { released, undone }
}

/** Returns the finality of the events that exist, by their sequences. */
async function finalitiesOf(
  reader: Reader,
  sequences: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, Finality>> {
  const events = await eventsAt(reader, sequences)
  const ends = await transactionEnds(reader, [...new Set(events.flatMap((event) => evidenceIn(event).signature ?? []))])
  const finalSlot = await finalizedSlot(reader)
  return new Map(
    events.map((event) => {
      const { signature } = evidenceIn(event)
      const end = signature === null ? undefined : ends.get(signature)
      return [event.sequence, finalityOf(event, { end, finalSlot, now })]
    }),
  )
}
