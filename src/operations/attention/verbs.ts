/** The list of what needs a person, and the snooze of one item. */
import type { AttentionItem } from '../../api/attention.ts'
import { ATTENTION_KINDS, type AttentionKind } from '../../api/attention-kinds.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest, forbidden, notFound } from '../../platform/errors.ts'
import { DAY_MS, isoTime } from '../../platform/timing.ts'
import { dropSnooze, putSnooze } from '../../store/attention/snoozes.ts'
import { decodeTextCursor, encodeTextCursor, filteredList } from '../../store/queries/paging.ts'
import { audit } from '../signing/audit.ts'
import { findItems, readId } from './items.ts'

type Routes = Api['attention']

/** Longest snooze. */
const LONGEST_MS = 366 * DAY_MS

/** Kinds about keys and the signer, which are read with the scope `*` alone. */
const OF_OPERATORS: readonly AttentionKind[] = ['policy_nearly_spent', 'key_expires']

/** Throws forbidden for a kind that the key may not read; a list of all kinds is without it. */
export async function listAttention(
  { store, clock, actor }: Pick<Context, 'store' | 'clock' | 'actor'>,
  { kind, subject, snoozed = false, limit, cursor }: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  const without = actor.scopes.includes('*') ? [] : OF_OPERATORS
  if (kind !== undefined && without.includes(kind)) throw forbidden('API key missing required scope(s): *')
  const list = filteredList('attention', { kind, subject, snoozed })
  const after = cursor === undefined ? undefined : placeIn(decodeTextCursor(list, cursor))
  const wanted = { kind, without, subject, snoozed, after }
  const found = await findItems(store.db, { now: clock.now(), limit: limit + 1, ...wanted })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    items: page.map(({ item }) => item),
    next_cursor: last === undefined ? null : encodeTextCursor(list, `${last.place.since} ${last.item.id}`),
  }
}

function placeIn(cursor: string) {
  const [since = '', id = ''] = cursor.split(' ')
  // The checksum is not a secret.
  if (!/^\d{1,15}$/.test(since)) throw badRequest('cursor is damaged', { param: 'cursor' })
  return { since: Number(since), ...readId(id) }
}

/** Throws not_found for an item that is not there now, and bad_request for a time that has passed. */
export async function snoozeItem(context: Context, input: Input<Routes['snooze']>): Promise<AttentionItem> {
  const { id, until, reason } = input
  const now = context.clock.now()
  const { kind, subject } = readId(id)
  if (until !== null) checkSnooze(until, reason, now)
  return context.commit(async (tx) => {
    const wanted = { now, limit: 1, subject, kind: kind as AttentionKind }
    const [found] = ATTENTION_KINDS.includes(wanted.kind) ? await findItems(tx, wanted) : []
    if (found === undefined) throw notFound(`There is no item ${id} (GET /v2/attention, \`svc attention list\`)`)
    if (until === null) await dropSnooze(tx, kind, subject)
    else
      await putSnooze(tx, {
        kind,
        subject,
        until,
        reason: reason ?? '',
        snoozed_at: now,
        snoozed_by: context.actor.apiKeyId,
      })
    const snooze = {
      snoozed_until: until === null ? null : isoTime(until),
      snooze_reason: until === null ? null : (reason ?? null),
    }
    await audit(context, tx, 'attention.snoozed', null, {
      item: id,
      until: snooze.snoozed_until,
      reason: reason ?? null,
    })
    return { ...found.item, ...snooze }
  })
}

function checkSnooze(until: number, reason: string | undefined, now: number): void {
  if (until <= now) throw badRequest('until: is not in the future; null ends a snooze', { param: 'until' })
  if (until > now + LONGEST_MS) throw badRequest('until: is more than a year ahead', { param: 'until' })
  if (reason === undefined) throw badRequest('reason: say why it can wait', { param: 'reason' })
}
