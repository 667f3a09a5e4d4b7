/** Stored events: read one, list them in either direction, and verify their chain. */
import type { Api, EventRepair, EventVerification } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { isSignature, readFirstBlock, readStatuses } from '../chain/reads/statuses.ts'
import type { Context, RepeatingServices } from '../context.ts'
import { type VerifiedRange, verifyAccounts } from '../following/reconciliation/verification.ts'
import { type ApiError, badRequest, type ErrorExtras, notFound } from '../platform/errors.ts'
import { chainEventsAfter, eventsElsewhere } from '../store/events/chain-events.ts'
import { eventPlace, findEvent, firstSequenceSince, pageEvents } from '../store/events/events.ts'
import { type RemovedEvents, removedEvents } from '../store/events/retention.ts'
import type { Reader } from '../store/store.ts'
import { eventRecord, recordPage } from './api-records.ts'
import { platformWallets } from './ledger/known-addresses.ts'
import { writeListed } from './ledger/write-ledger.ts'
import { PROJECTIONS } from './projections.ts'

type Routes = Api['events']

/** Returns one stored event. */
export async function getEvent(
  { store }: Pick<Context, 'store'>,
  { id }: Input<Routes['get']>,
): Promise<Result<Routes['get']>> {
  const event = await findEvent(store.db, id)
  if (event === null) throw await eventMissing(store.db, id)
  return eventRecord(event)
}

/** Lists stored events, in either direction. */
export async function listEvents(
  { store }: Pick<Context, 'store'>,
  input: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  const { order, cursor } = input
  const page = await pageEvents(store.db, input)
  // This is read after the page, because events may be removed between the two reads.
  if (order === 'asc' && cursor !== undefined) await requireNoneMissed(store.db, eventPlace(cursor, input))
  return recordPage(page, eventRecord)
}

/** If a follower's next events were removed, it must not continue as if it had them all. */
async function requireNoneMissed(reader: Reader, place: number): Promise<void> {
  const removed = await removedEvents(reader)
  if (removed === null || place >= removed.first - 1) return
  const what = `The events ${place + 1} to ${removed.first - 1} after this cursor were removed`
  throw eventsRemoved(what, removed, 'leave out the cursor to start there', 'cursor')
}

/** Calls to the node for comparing accounts in one step. Reading the last transaction's accounts adds a few. */
const CALLS_PER_STEP = 50
const EVENTS_PER_STEP = 200

/** The accounts come first, then the stored events. Throws internal_error when the node fails. */
export async function verifyEvents(
  context: RepeatingServices,
  input: Input<Routes['verify']>,
): Promise<Result<Routes['verify']>> {
  const { repaired: _, ...compared } = await compare(context, input, false)
  return compared
}

/** Also writes the records, events and ledger entries that are missing. Throws internal_error when the node fails. */
export const repairEvents = (context: Context, input: Input<Routes['repair']>): Promise<Result<Routes['repair']>> =>
  compare(context, input, true)

async function compare(
  context: RepeatingServices,
  { since, until = context.clock.now(), cursor }: Input<Routes['verify']>,
  isRepair: boolean,
): Promise<EventRepair> {
  if (since >= until) throw badRequest('until must be later than since', { param: 'until' })
  const range = { since, until }
  const [phase = 'accounts', place = '0', before = null] = cursor?.split('.') ?? []
  if (phase === 'events') return { ...(await compareEvents(context, range, Number(place))), repaired: [] }
  const booked = new Set(await platformWallets(context))
  const services = { ...context, projections: PROJECTIONS, booked }
  const from = { account: Number(place), before }
  const step = { from, calls: CALLS_PER_STEP, isRepair, signal: context.ending }
  const { next, read, ...compared } = await verifyAccounts(services, range, step)
  await writeListed(context, await context.chain.genesisHash(), read)
  const next_cursor =
    next === null ? 'events.0' : `accounts.${next.account}${next.before === null ? '' : `.${next.before}`}`
  return { ...compared, events: 0, extra: [], next_cursor }
}

/** An event that names a transaction is confirmed only by that transaction, whoever found it. */
async function compareEvents(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  { since, until }: VerifiedRange,
  after: number,
): Promise<EventVerification> {
  const first = (await firstSequenceSince(store.db, since)) ?? Number.MAX_SAFE_INTEGER
  const rows = await chainEventsAfter(store.db, {
    after: Math.max(after, first - 1),
    since,
    until,
    limit: EVENTS_PER_STEP,
  })
  const named = rows.flatMap((row) => {
    const signature = row.signature
    return signature === null ? [] : [{ ...row, signature }]
  })
  // A node refuses a whole call if one text cannot be a signature.
  const signatures = [...new Set(named.map(({ signature }) => signature))].filter(isSignature)
  const statuses = signatures.length === 0 ? [] : (await readStatuses(chain, signatures, true)).statuses
  const bySignature = new Map(signatures.map((signature, i) => [signature, statuses[i] ?? null]))
  // A node whose history begins later proves nothing about the event.
  const historyStart = statuses.includes(null) ? await readFirstBlock(chain) : 0
  const absent = named.filter(({ signature }) => (bySignature.get(signature) ?? null) === null)
  const genesis = absent.length === 0 ? '' : await chain.genesisHash()
  const elsewhere = await eventsElsewhere(store.db, genesis, absent)
  const extra = named.flatMap(({ id, type, resource_type, resource_id, signature, slot }) => {
    const status = bySignature.get(signature) ?? null
    const reason =
      status === null && slot >= historyStart && !elsewhere.has(id)
        ? ('not_on_chain' as const)
        : (status?.err ?? null) !== null
          ? ('failed' as const)
          : null
    return reason === null ? [] : [{ id, type, resource_type, resource_id, signature, reason }]
  })
  const last = rows.at(-1)
  return {
    accounts: 0,
    transactions: 0,
    missing: [],
    unread: [],
    extra,
    events: rows.length,
    next_cursor: rows.length < EVENTS_PER_STEP || last === undefined ? null : `events.${last.sequence}`,
  }
}

const detailsOf = ({ first, since }: RemovedEvents) => ({
  first_sequence: first,
  first_created: new Date(since).toISOString(),
})

const firstEventText = ({ first, since }: RemovedEvents): string =>
  `the first stored event has the sequence ${first}, from ${new Date(since).toISOString()} (retention.events-days)`

/** Returns not_found. If events were removed, it names the first stored one. */
export async function eventMissing(reader: Reader, id: string, extras: ErrorExtras = {}): Promise<ApiError> {
  const removed = await removedEvents(reader)
  if (removed === null) return notFound(`There is no event ${id}`, extras)
  const message = `There is no event ${id}; earlier events were removed: ${firstEventText(removed)}`
  return notFound(message, { ...extras, details: detailsOf(removed) })
}

/** Returns bad_request for a request that would have to start with removed events. */
export const eventsRemoved = (what: string, removed: RemovedEvents, next: string, param: string): ApiError =>
  badRequest(`${what}: ${firstEventText(removed)}; ${next}`, { param, details: detailsOf(removed) })
