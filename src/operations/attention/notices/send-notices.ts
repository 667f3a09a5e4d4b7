/**
 * Sends notices of what needs a person: once when an item begins, once when it is over, and one digest if there are
 * many. A notice is stored as sent after its receiver took it. A kill in between repeats it, with the same id.
 */
import type { AttentionItem } from '../../../api/attention.ts'
import type { Services } from '../../../context.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../platform/timing.ts'
import { signatureHeaders, signingKeys } from '../../../platform/webhook-signature.ts'
import { publicRoot, redactUrl } from '../../../settings/config.ts'
import {
  changeNotice,
  deleteNotice,
  findReceiverState,
  forgetOtherReceivers,
  knowsOtherReceivers,
  type NoticeRow,
  noticesOf,
  putNotice,
  putReceiverState,
  type ReceiverState,
} from '../../../store/attention/notices.ts'
import { sendWebhook } from '../../webhook-deliveries/send.ts'
import { findItems } from '../items.ts'
import { type Counts, type Notice, noticeRequest } from './bodies.ts'
import { type OpenReceiver, openReceivers } from './receivers.ts'

type NoticeServices = Pick<Services, 'config' | 'store' | 'vault' | 'clock' | 'log' | 'ending'>

/** Items and notices that are read; with more, none counts as over. */
const MOST_ITEMS = 1_000
/** Messages to one receiver within a minute. If more are due, they become one, the digest. */
const MESSAGES_PER_MINUTE = 5
const ANSWER_TIMEOUT_MS = 5_000
const FIRST_RETRY_MS = 10 * SECOND_MS
const LONGEST_RETRY_MS = HOUR_MS

/** One round. A receiver that fails delays no other. */
export async function sendNotices(services: NoticeServices, signal: AbortSignal): Promise<void> {
  const { store, clock } = services
  const receivers = openReceivers(services)
  const ids = receivers.map(({ id }) => id)
  if (await knowsOtherReceivers(store.db, ids)) await store.write((tx) => forgetOtherReceivers(tx, ids), UNSEEN)
  if (receivers.length === 0) return
  const items = (await findItems(store.db, { now: clock.now(), limit: MOST_ITEMS })).map(({ item }) => item)
  await Promise.all(
    receivers.map(async (receiver) => {
      await noteItems(services, receiver, items)
      signal.throwIfAborted()
      await sendDue(services, receiver, signal)
    }),
  )
}

const UNSEEN = { isUnseen: true }
const keyOf = ({ kind, subject }: Pick<NoticeRow, 'kind' | 'subject'>) => `${kind}.${subject}`

/** Stores what has begun and what is over since the last round. A snoozed item is not noticed before its snooze ends. */
async function noteItems(
  { store, clock }: NoticeServices,
  receiver: OpenReceiver,
  items: readonly AttentionItem[],
): Promise<void> {
  const now = clock.now()
  const wanted = new Map(items.filter(({ kind }) => receiver.wants(kind)).map((item) => [item.id, item]))
  const rows = await noticesOf(store.db, receiver.id, MOST_ITEMS)
  const known = new Map(rows.map((row) => [keyOf(row), row]))
  const begun = [...wanted.values()].filter(({ id, snoozed_until }) =>
    known.has(id) ? known.get(id)?.ended_at !== null : snoozed_until === null,
  )
  const over = rows.filter((row) => row.ended_at === null && !wanted.has(keyOf(row)) && items.length < MOST_ITEMS)
  if (begun.length + over.length === 0) return
  await store.write(async (tx) => {
    // The state is stored first, so that a receiver with notices is always known.
    await putReceiverState(tx, await findReceiverState(tx, receiver.id))
    for (const item of begun) {
      const key = { receiver: receiver.id, kind: item.kind, subject: item.subject.id }
      // If an item begins again before its end was sent, its notice goes on.
      await putNotice(tx, { ...key, item_json: JSON.stringify(item), noticed_at: now, told_at: null, ended_at: null })
    }
    for (const row of over) {
      if (row.told_at === null || !receiver.wants(row.kind)) await deleteNotice(tx, row)
      else await changeNotice(tx, row, { ended_at: now })
    }
  }, UNSEEN)
}

/** Sends what is due to one receiver: singly, or as a digest if it is too much for a minute. */
async function sendDue(services: NoticeServices, receiver: OpenReceiver, signal: AbortSignal): Promise<void> {
  const { store, clock } = services
  const now = clock.now()
  const due = (await noticesOf(store.db, receiver.id, MOST_ITEMS)).filter(
    ({ told_at, ended_at }) => told_at === null || ended_at !== null,
  )
  const stored = await findReceiverState(store.db, receiver.id)
  // A clock that was ahead must not silence a receiver.
  if (due.length === 0 || (stored.next_attempt_at > now && stored.next_attempt_at <= now + LONGEST_RETRY_MS)) return
  const isNewMinute = Math.abs(now - stored.minute_at) >= MINUTE_MS
  const state = isNewMinute ? { ...stored, minute_at: now, sent: 0 } : stored
  const isStorm = due.length > MESSAGES_PER_MINUTE - state.sent
  if (!isStorm) return sendEach(services, receiver, { due, state, signal })
  // The rest of a storm is gathered until the minute is over.
  if (state.sent === 0) await sendOne(services, receiver, { rows: due, state })
}

interface Sending {
  due: readonly NoticeRow[]
  state: ReceiverState
  signal: AbortSignal
}

async function sendEach(
  services: NoticeServices,
  receiver: OpenReceiver,
  { due, state, signal }: Sending,
): Promise<void> {
  let now: ReceiverState | null = state
  for (const row of due) {
    if (signal.aborted || now === null) return
    now = await sendOne(services, receiver, { rows: [row], state: now })
  }
}

/** Sends one message about some notices, and stores the result. Returns null if the receiver did not take it. */
async function sendOne(
  services: NoticeServices,
  receiver: OpenReceiver,
  { rows, state }: { rows: readonly NoticeRow[]; state: ReceiverState },
): Promise<ReceiverState | null> {
  const { store, clock, log } = services
  const error = await post(services, receiver, rows)
  const now = clock.now()
  if (error !== null) {
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(state.failures, 20), LONGEST_RETRY_MS)
    const failed = { ...state, failures: state.failures + 1, next_attempt_at: now + pauseMs }
    log.warn({ receiver: redactUrl(receiver.url), form: receiver.form, error }, 'a notice was not taken')
    await store.write((tx) => putReceiverState(tx, failed), UNSEEN)
    return null
  }
  const sent = { ...state, sent: state.sent + 1, failures: 0, next_attempt_at: 0 }
  await store.write(async (tx) => {
    await putReceiverState(tx, sent)
    for (const row of rows) {
      if (row.ended_at === null) await changeNotice(tx, row, { told_at: now })
      else await deleteNotice(tx, row)
    }
  }, UNSEEN)
  return sent
}

/** Why the receiver did not take the message; null if it did. */
async function post(
  { config, vault, clock, ending }: NoticeServices,
  receiver: OpenReceiver,
  rows: readonly NoticeRow[],
): Promise<string | null> {
  const { values } = config
  const now = clock.now()
  const { url, body } = noticeRequest(noticeOf(rows), { ...receiver, root: publicRoot(config), now })
  const facts = rows.map(({ kind, subject, noticed_at, ended_at }) => [kind, subject, noticed_at, ended_at])
  const eventId = `ntc_${vault.mac(JSON.stringify([receiver.id, facts]), 'attention notice').slice(0, 24)}`
  const keys = receiver.secret === null ? null : [signingKeys(receiver.secret)]
  const { error } = await sendWebhook({
    url,
    headers: keys === null ? {} : signatureHeaders({ eventId, body, keys, now }),
    body,
    allowPrivate: values['webhooks.allow-private'],
    ports: values['webhooks.ports'],
    timeoutMs: ANSWER_TIMEOUT_MS,
    ending,
  })
  return error
}

function noticeOf(rows: readonly NoticeRow[]): Notice {
  const [row] = rows
  if (rows.length === 1 && row !== undefined) {
    const item = JSON.parse(row.item_json) as AttentionItem
    return { type: row.ended_at === null ? 'attention.began' : 'attention.ended', item }
  }
  const isOver = (each: NoticeRow) => each.ended_at !== null
  return {
    type: 'attention.digest',
    began: countedByKind(rows.filter((each) => !isOver(each))),
    ended: countedByKind(rows.filter(isOver)),
  }
}

function countedByKind(rows: readonly NoticeRow[]): Counts {
  const counts: Record<string, number> = {}
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
