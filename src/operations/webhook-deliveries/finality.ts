/** Releases events to subscriptions that want final ones, and cancels those that a fork has undone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import type { Reader } from '../../store/store.ts'
import {
  eventsAt,
  finalizedSlot,
  lastQueued,
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

/** Pages of one call, so that new events do not wait long for old ones. */
const PAGES_PER_CALL = 10

/** A look at all deliveries that wait for finality, in the order of events, over several calls. */
interface FinalityLook {
  /** Sequence after which the next call continues. */
  after: number
  /** The last delivery at the beginning. Later ones wait for the next look, because earlier events may come with them. */
  lastQueued: number
  /** Resources of a subscription with a delivery that still waits. Those of one resource keep their order. */
  blocked: Set<string>
}

/** The look of the next call; undefined for a new one. */
export interface FinalityPosition {
  look?: FinalityLook | undefined
}

/** Continues the look. Returns whether it has come to its end; a signal ends the call between two pages. */
export async function releaseFinal(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  position: FinalityPosition,
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  const look = position.look ?? { after: 0, lastQueued: await lastQueued(store.db), blocked: new Set() }
  position.look = look
  let limit = DELIVERIES_PER_PAGE
  for (let pages = 0; pages < PAGES_PER_CALL && !signals.some(({ aborted }) => aborted); ) {
    const rows = await unfinalDeliveries(store.db, look.after, limit)
    const last = rows.at(-1)
    const isFull = rows.length === limit
    if (isFull && last?.sequence === rows[0]?.sequence) {
      // One event fills the page. A later event may be released only if all deliveries of this one were seen.
      limit *= 2
      continue
    }
    const known = rows.filter(({ seq }) => seq <= look.lastQueued)
    const { released, undone } = await decide(store.db, known, look.blocked, clock.now())
    if (released.length > 0 || undone.length > 0) {
      await store.write(async (tx) => {
        await releaseUnfinal(tx, released, clock.now())
        await removeUnfinal(tx, undone)
      })
    }
    if (last === undefined || !isFull) {
      position.look = undefined
      return true
    }
    // Deliveries of one event to several subscriptions may span two pages.
    look.after = last.sequence - 1
    limit = DELIVERIES_PER_PAGE
    pages++
    await nextTurn()
  }
  return false
}

/** Adds to `blocked` each resource of a subscription with a delivery that still waits; later ones wait for it. */
async function decide(
  reader: Reader,
  rows: readonly UnfinalDelivery[],
  blocked: Set<string>,
  now: number,
): Promise<{ released: number[]; undone: number[] }> {
  const [released, undone]: [number[], number[]] = [[], []]
  if (rows.length === 0) return { released, undone }
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
