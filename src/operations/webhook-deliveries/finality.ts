/** Lets events go out to subscriptions that ask for final ones, once their transactions are final, and none that a fork has undone. */
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
/** Pages of one pass, beside which new events are fanned out. */
const PAGES_PER_PASS = 10
/** Time in which a dropped transaction may land again: longer than any blockhash can be used. */
const LANDS_AGAIN_MS = 10 * MINUTE_MS
/** Age at which a reading of accounts counts as final where no daemon reads the chain's final slot. */
const OLD_READING_MS = 2 * MINUTE_MS

type FinalEvent = Awaited<ReturnType<typeof eventsAt>>[number]

export interface FinalityFacts {
  /** End of the event's own transaction; undefined where it has none that is known. */
  end: TransactionEnd | undefined
  finalSlot: number
  now: number
}

/** The signature and slot by which the chain shows what an event reports. */
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

/** Whether the event may be told to those who ask for final ones now, never, or is still open. */
export function finalityOf(event: FinalEvent, { end, finalSlot, now }: FinalityFacts): 'final' | 'undone' | 'open' {
  if (event.type === 'transaction.submitted') return 'final'
  const age = now - event.created_at
  if (end === 'open') return 'open'
  if (end === 'gone') return age > LANDS_AGAIN_MS ? 'undone' : 'open'
  // On one fork it was executed, and on the other it failed: only what the final one shows is told.
  if (end !== undefined) return (end === 'failed') === (event.type === 'transaction.failed') ? 'final' : 'undone'
  const { slot } = evidenceIn(event)
  return slot === null || slot <= finalSlot || age > OLD_READING_MS ? 'final' : 'open'
}

/** Where a look at the deliveries goes on, and of which resources an earlier delivery of this look still waits. */
export interface FinalityLook {
  after: number
  blocked: Set<string>
}

export const newLook = (): FinalityLook => ({ after: 0, blocked: new Set() })

/**
 * Looks at deliveries that wait for finality, in the order of events; of one resource none overtakes another. Ends after
 * some pages, or between two once a signal is aborted, and returns where the next call goes on.
 */
export async function releaseFinal(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  look: FinalityLook = newLook(),
  ...signals: readonly AbortSignal[]
): Promise<FinalityLook> {
  let { after } = look
  for (let page = 0; page < PAGES_PER_PASS; page++) {
    if (signals.some(({ aborted }) => aborted)) break
    const rows = await unfinalDeliveries(store.db, after, DELIVERIES_PER_LOOK)
    const last = rows.at(-1)
    if (last === undefined) return newLook()
    const { released, undone } = await decided(store.db, rows, look.blocked, clock.now())
    if (released.length > 0 || undone.length > 0) {
      await store.write(async (tx) => {
        await releaseUnfinal(tx, released, clock.now())
        await removeUnfinal(tx, undone)
      })
    }
    if (rows.length < DELIVERIES_PER_LOOK) return newLook()
    // Deliveries of one event to several subscriptions may be on both sides of a page.
    after = last.sequence === rows[0]?.sequence ? last.sequence : last.sequence - 1
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
    // The event was removed, which ends its delivery; a subscription that no longer asks waits for nothing.
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
