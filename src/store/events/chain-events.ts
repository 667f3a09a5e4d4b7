/** Stored events that report transactions of the chain, with the evidence in their objects. */
import type { EventType } from '../../api/event-types.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'

interface ChainEvent extends Pick<Row<'events'>, 'sequence' | 'id' | 'resource_type' | 'resource_id'> {
  type: EventType
  /** Signature of the transaction, or null for an event without one. */
  signature: string | null
  slot: number
}

/** Returns the time of the first stored event in Unix milliseconds; null before it. */
export async function firstEventAt(reader: Reader): Promise<number | null> {
  const first = reader.selectFrom('events').select('created_at').orderBy('sequence').limit(1)
  return (await first.executeTakeFirst())?.created_at ?? null
}

/** Types of events about transactions that were in a block. */
const EXECUTED: readonly string[] = ['transaction.confirmed', 'transaction.finalized']

/** Returns events of a range of time after a sequence, in order, including those without evidence. */
export async function chainEventsAfter(
  reader: Reader,
  { after, since, until, limit }: { after: number; since: number; until: number; limit: number },
): Promise<ChainEvent[]> {
  const rows = await reader
    .selectFrom('events')
    .select(['sequence', 'id', 'type', 'resource_type', 'resource_id', 'object_json'])
    .where('sequence', '>', after)
    .where('created_at', '>=', since)
    .where('created_at', '<', until)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(({ object_json, ...row }) => ({
    ...row,
    type: row.type as EventType,
    ...evidenceOfEvent(row, object_json),
  }))
}

function evidenceOfEvent(
  { type, resource_type, resource_id }: Pick<Row<'events'>, 'type' | 'resource_type' | 'resource_id'>,
  json: string,
) {
  const { signature, slot } = JSON.parse(json) as { signature?: unknown; slot?: unknown }
  const at = typeof slot === 'number' ? slot : 0
  if (resource_type === 'transaction') return { signature: EXECUTED.includes(type) ? resource_id : null, slot: at }
  return { signature: typeof signature === 'string' ? signature : null, slot: at }
}

/**
 * Returns the ids of those events whose transaction or pool is stored here for another chain, as after a reset of the
 * embedded chain, and not for this one.
 */
export async function eventsElsewhere(
  reader: Reader,
  genesis: string,
  events: readonly (Pick<ChainEvent, 'id' | 'resource_type' | 'resource_id'> & { signature: string })[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const signatures = events.map(({ signature }) => signature)
  const pools = events.flatMap(({ resource_type, resource_id }) => (resource_type === 'pool' ? resource_id : []))
  const stored = await Promise.all([
    ...(['transactions', 'chain_transactions', 'ledger_transactions'] as const).map((table) =>
      reader.selectFrom(table).select(['signature as key', 'genesis']).where('signature', 'in', signatures).execute(),
    ),
    ...(pools.length === 0
      ? []
      : [reader.selectFrom('pools').select(['address as key', 'genesis']).where('address', 'in', pools).execute()]),
  ])
  const chains = new Map<string, Set<string>>()
  for (const { key, genesis: at } of stored.flat()) chains.set(key, (chains.get(key) ?? new Set<string>()).add(at))
  const isElsewhere = (key: string) => {
    const at = chains.get(key)
    return at !== undefined && !at.has(genesis) && !at.has('')
  }
  return new Set(
    events.flatMap(({ id, signature, resource_id }) =>
      isElsewhere(signature) || (!chains.has(signature) && isElsewhere(resource_id)) ? id : [],
    ),
  )
}
