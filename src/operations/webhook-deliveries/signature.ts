/** Signs a delivery with X-Service-Signature and the headers of Standard Webhooks, with every live secret. */
import { createHmac } from 'node:crypto'
import { internal } from '../../errors.ts'

export interface DeliveryToSign {
  /** Id of the event, which is the same at every attempt. */
  eventId: string
  /** The body as it is sent, byte for byte. */
  body: string | Uint8Array
  /** Secrets `whsec_…` in the form shown to users: the current one first, then the previous ones during a rotation. */
  secrets: readonly string[]
  /** Time of this attempt in Unix milliseconds. */
  now: number
}

const WEBHOOK_SECRET_PREFIX = 'whsec_'
const WEBHOOK_SECRET_PATTERN = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * X-Service-Signature uses the UTF-8 of the whole secret as key, webhook-signature the bytes after `whsec_`. Throws
 * internal_error without a secret or for an unreadable one, so that nothing is sent unsigned.
 */
export function signatureHeaders({ eventId, body, secrets, now }: DeliveryToSign): Record<string, string> {
  if (secrets.length === 0 || !secrets.every((secret) => WEBHOOK_SECRET_PATTERN.test(secret))) {
    throw internal('a webhook secret is not readable; rotate the secret of the subscription')
  }
  const seconds = Math.floor(now / 1000)
  const ours = secrets.map((secret) => `v1=${hmac(secret, `${seconds}.`, body).toString('hex')}`)
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
    return `v1,${hmac(key, `${eventId}.${seconds}.`, body).toString('base64')}`
  })
  return {
    'X-Service-Signature': [`t=${seconds}`, ...ours].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  }
}

const hmac = (key: string | Uint8Array, prefix: string, body: string | Uint8Array) =>
  createHmac('sha256', key).update(prefix).update(body).digest()
