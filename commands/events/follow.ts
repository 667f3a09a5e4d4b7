/** Follows GET /v2/events in order, across lost connections, without a gap and without a repetition. */
import type { EventType } from '../../src/api/event-types.ts'
import type { Event } from '../../src/api/events.ts'
import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { EndlessList, nextCursors } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { isTransient } from '../ui/problem.ts'

interface FollowFilters {
  type?: EventType | undefined
  resource_type?: string | undefined
  resource_id?: string | undefined
}

/** The position of a follower: every event up to `sequence` is done; `cursor` is the API's, at or before it. */
export interface EventPosition {
  sequence: number
  cursor?: string | undefined
}

const EVENTS_PAUSE_MS = 1_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
const EVENTS_RATE_LIMIT_PAUSE_MS = 5_000
const EVENTS_PER_PAGE = 100

/**
 * Yields every event after the position, each with the position after it; it never ends. Once the API has answered,
 * its failures are retried and reported on stderr; a first or permanent failure is thrown.
 */
export async function* followEvents(
  { client, clock, ui }: Pick<Session, 'client' | 'clock' | 'ui'>,
  filters: FollowFilters,
  from: EventPosition,
): AsyncGenerator<{ event: Event; position: EventPosition }> {
  let { sequence, cursor } = from
  let limit = EVENTS_PER_PAGE
  let [failures, reached] = [0, false]
  let nextOf = nextCursors()
  for (;;) {
    try {
      const { data, meta } = await client.events.list({
        ...eventQuery(filters, 'asc', limit),
        ...(cursor && { cursor }),
      })
      if (failures > 0) ui.note('The API answers again; nothing was missed.')
      failures = 0
      reached = true
      for (const event of data) {
        if (event.sequence <= sequence) continue
        sequence = event.sequence
        nextOf = nextCursors()
        yield { event, position: { sequence, cursor } }
      }
      if (meta.next_cursor !== null) {
        cursor = nextOf(meta.next_cursor)
        limit = EVENTS_PER_PAGE
        continue
      }
      // The last page has no cursor. A request for all but one of its events returns a cursor close to the end.
      limit = data.length > 1 ? data.length - 1 : EVENTS_PER_PAGE
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (cursor !== undefined && error.code === 'bad_request' && error.param === 'cursor') {
        cursor = undefined
        continue
      }
      if (!reached || !isTransient(error) || error instanceof EndlessList) throw error
      if (failures === 0) ui.warn(`${error.message}; trying again until it answers`)
      const wait = Math.min(FIRST_WAIT_MS * 2 ** failures++, LONGEST_WAIT_MS)
      await clock.sleep(error.code === 'rate_limited' ? Math.max(wait, EVENTS_RATE_LIMIT_PAUSE_MS) : wait)
      continue
    }
    await clock.sleep(EVENTS_PAUSE_MS)
  }
}

/** The position after the newest event that passes the filters, or after the event of a sequence. */
export async function eventPosition(
  client: Client,
  filters: FollowFilters,
  requested: number | 'now',
): Promise<EventPosition> {
  if (requested === 0) return { sequence: 0 }
  const newest = (await client.events.list(eventQuery(filters, 'desc', 1))).data[0]
  if (newest === undefined) return { sequence: requested === 'now' ? 0 : requested }
  const sequence = requested === 'now' ? newest.sequence : requested
  // A time only finds a cursor to start from. Clocks may be set back, so the sequence decides whether the cursor is
  // before the position.
  for (let back = 1; back < newest.created; back *= 2) {
    const created_after = String(newest.created - back)
    const { data, meta } = await client.events.list({ ...eventQuery(filters, 'asc', 1), created_after })
    if (data[0] !== undefined && data[0].sequence <= sequence && meta.next_cursor !== null) {
      return { sequence, cursor: meta.next_cursor }
    }
  }
  return { sequence }
}

function eventQuery({ type, resource_type, resource_id }: FollowFilters, order: 'asc' | 'desc', limit: number) {
  return {
    order,
    limit: String(limit),
    ...(type === undefined ? {} : { type }),
    ...(resource_type === undefined ? {} : { resource_type }),
    ...(resource_id === undefined ? {} : { resource_id }),
  }
}
