/** Delivery attempts of webhooks, one row each. */
import type { ExpressionBuilder } from 'kysely'
import { partsOf } from '../queries/parts.ts'
import { finding, listing } from '../queries/records.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { UNTRIED, WAITING } from './queue.ts'

export type NewWebhookDelivery = Omit<Row<'webhook_deliveries'>, 'seq'>

/** Inserts many attempts, in this order. */
export async function insertWebhookDeliveries(tx: Tx, rows: readonly NewWebhookDelivery[]): Promise<void> {
  for (const part of partsOf(rows)) await tx.insertInto('webhook_deliveries').values(part).execute()
}

export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id', 'status'], {
  weights: { error: 1, response_body: 1 },
})
export const findWebhookDelivery = finding('webhook_deliveries', 'id')

/** What the last attempts say about the receiver of a subscription. */
export interface ReceiverState {
  last_attempt_at: number | null
  last_status: 'succeeded' | 'failed' | null
  last_response_code: number | null
  failing_since: number | null
  next_attempt_at: number | null
}

/** The first failed attempt of a subscription since the last that succeeded. */
export const failingSince = ({ selectFrom, fn }: ExpressionBuilder<Tables, 'webhook_subscriptions'>) =>
  selectFrom('webhook_deliveries as d')
    .select('d.created_at')
    .whereRef('d.subscription_id', '=', 'webhook_subscriptions.id')
    .where('d.status', '=', 'failed')
    .where(
      'd.seq',
      '>',
      fn.coalesce(
        selectFrom('webhook_deliveries as ok')
          .select((ok) => ok.fn.max('ok.seq').as('seq'))
          .whereRef('ok.subscription_id', '=', 'webhook_subscriptions.id')
          .where('ok.status', '=', 'succeeded'),
        UNTRIED,
      ),
    )
    .orderBy('d.seq')
    .limit(1)

/** The states of receivers by subscription, each part from one end of an index. */
export async function receiverStates(
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReceiverState>> {
  if (ids.length === 0) return new Map()
  const rows = await reader
    .selectFrom('webhook_subscriptions')
    .where('id', 'in', ids)
    .select((is) => {
      const attempts = is.selectFrom('webhook_deliveries as d')
      const ownAttempts = attempts.whereRef('d.subscription_id', '=', 'webhook_subscriptions.id')
      const last = ownAttempts.orderBy('d.seq', 'desc').limit(1)
      return [
        'id',
        last.select('d.created_at').as('last_attempt_at'),
        last.select('d.status').$castTo<{ status: 'succeeded' | 'failed' }>().as('last_status'),
        last.select('d.response_code').as('last_response_code'),
        failingSince(is).as('failing_since'),
        is
          .selectFrom('webhook_queue as q')
          .select(({ fn }) => fn.min('q.next_attempt_at').as('at'))
          .whereRef('q.subscription_id', '=', 'webhook_subscriptions.id')
          .where('q.state', '=', WAITING)
          .where('q.attempts', '>', UNTRIED)
          .as('next_attempt_at'),
      ]
    })
    .execute()
  return new Map(rows.map(({ id, ...state }) => [id, state]))
}

/** The latest attempts of a subscription since a time, at most `limit` of them. */
export const attemptsSince = (
  reader: Reader,
  subscriptionId: string,
  since: number,
  limit: number,
): Promise<Pick<Row<'webhook_deliveries'>, 'status' | 'response_code' | 'duration_ms'>[]> =>
  reader
    .selectFrom((latest) =>
      latest
        .selectFrom('webhook_deliveries')
        .select(['seq', 'status', 'response_code', 'duration_ms', 'created_at'])
        .where('subscription_id', '=', subscriptionId)
        .orderBy('seq', 'desc')
        .limit(limit)
        .as('d'),
    )
    .select(['d.status', 'd.response_code', 'd.duration_ms'])
    .where('d.created_at', '>=', since)
    .execute()

/** Deletes up to `limit` attempts older than `before`; returns the number of deleted rows. */
export async function pruneDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('webhook_deliveries').select('seq').where('created_at', '<', before)
  const some = tx.deleteFrom('webhook_deliveries').where('seq', 'in', old.orderBy('created_at').limit(limit))
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}
