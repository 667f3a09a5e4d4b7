/** Replaces a subscription's secret. Each earlier one keeps signing for the time requested at its replacement. */

import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { HOUR_MS } from '../../platform/timing.ts'
import { lockWebhookSubscription, updateWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { requireRecord, webhookSubscriptionRecord } from '../api-records.ts'
import { ownSubscription } from './owned.ts'
import { makeWebhookSecret, type PreviousSecret, previousSecrets, previousSecretsJson } from './secret.ts'

type RotateSecretRoute = Api['webhookSubscriptions']['rotateSecret']

/** Earlier secrets that may still sign. Each adds a signature to two headers of every delivery. */
const MOST_PREVIOUS_SECRETS = 5

export async function rotateSecret(
  context: Context,
  { id, overlap_hours }: Input<RotateSecretRoute>,
): Promise<Result<RotateSecretRoute>> {
  const now = context.clock.now()
  const until = overlap_hours === 0 ? null : now + overlap_hours * HOUR_MS
  await ownSubscription(context, context.store.db, id)
  const { secret, columns } = makeWebhookSecret(context, id)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockWebhookSubscription(tx, id), 'webhook subscription', id)
    const earlier = previousSecrets(before, now)
    if (until !== null && earlier.length >= MOST_PREVIOUS_SECRETS) throw tooManySecrets(earlier)
    const previous = until === null ? [] : [{ secret: before.secret, until }, ...earlier]
    const stored = await updateWebhookSubscription(tx, id, {
      ...columns,
      previous_secrets_json: previousSecretsJson(previous),
      updated_at: now,
    })
    return {
      ...webhookSubscriptionRecord(requireRecord(stored, 'webhook subscription', id)),
      secret,
      previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
    }
  })
}

function tooManySecrets(earlier: readonly PreviousSecret[]) {
  const next = new Date(Math.min(...earlier.map(({ until }) => until))).toISOString()
  return badRequest(
    `overlap_hours: ${earlier.length} earlier secrets still sign, the first of them until ${next}. Rotate after that, or send overlap_hours: 0, which ends them all now`,
    { param: 'overlap_hours', details: { previous_secrets: earlier.length, next_expires_at: next } },
  )
}
