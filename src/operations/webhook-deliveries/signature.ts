/** Signs a delivery with X-Service-Signature and the headers of Standard Webhooks, with every live secret. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Services } from '../../context.ts'
import { internal } from '../../platform/errors.ts'
import type { Row } from '../../store/schema.ts'
import { previousSecrets, secretPurpose } from '../webhook-subscriptions/secret.ts'

/** The keys of one secret. They are cached, because making them costs more than signing. */
export interface WebhookSigningKeys {
  /** Key for X-Service-Signature: the UTF-8 of the whole secret. */
  whole: KeyObject
  /** Key for webhook-signature: the bytes after `whsec_`. */
  standard: KeyObject
}

export interface DeliveryToSign {
  /** Id of the event, which is the same at every attempt. */
  eventId: string
  /** The body as it is sent, byte for byte. */
  body: string | Uint8Array
  /** The current secret's keys first, then those of previous ones during a rotation. */
  keys: readonly WebhookSigningKeys[]
  /** Time of this attempt in Unix milliseconds. */
  now: number
}

const WEBHOOK_SECRET_PREFIX = 'whsec_'
const WEBHOOK_SECRET_PATTERN = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Takes a secret `whsec_…` in the form shown to users. Throws internal_error for an unreadable one. */
export function signingKeys(secret: string): WebhookSigningKeys {
  if (!WEBHOOK_SECRET_PATTERN.test(secret)) throw unreadableSecret()
  return {
    whole: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64'),
  }
}

const unreadableSecret = () => internal('a webhook secret is not readable; rotate the secret of the subscription')

/** Throws internal_error without a key, so that nothing is sent unsigned. */
export function signatureHeaders({ eventId, body, keys, now }: DeliveryToSign): Record<string, string> {
  if (keys.length === 0) throw unreadableSecret()
  const seconds = Math.floor(now / 1000)
  const ours = keys.map(({ whole }) => `v1=${hmac(whole, `${seconds}.`, body).digest('hex')}`)
  const prefix = `${eventId}.${seconds}.`
  const standard = keys.map((key) => `v1,${hmac(key.standard, prefix, body).digest('base64')}`)
  return {
    'X-Service-Signature': [`t=${seconds}`, ...ours].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  }
}

const hmac = (key: KeyObject, prefix: string, body: string | Uint8Array) =>
  createHmac('sha256', key).update(prefix).update(body)

type SecretServices = Pick<Services, 'vault' | 'log'>
/** The keys of secrets that were opened before, by the sealed secret. */
export type OpenedKeys = Map<string, WebhookSigningKeys>

/**
 * Returns the current secret's keys first, then those of rotated ones that still sign, without unreadable ones. Null if
 * the current secret cannot be read, because nothing is sent unsigned.
 */
export function keysOf(
  services: SecretServices,
  subscription: Pick<Row<'webhook_subscriptions'>, 'id' | 'secret' | 'previous_secrets_json'>,
  now: number,
  opened: OpenedKeys,
): readonly WebhookSigningKeys[] | null {
  const { id, secret } = subscription
  const current = openKeys(services, id, secret, opened)
  if (current === null) return null
  const previous = previousSecrets(subscription, now).map((each) => openKeys(services, id, each.secret, opened))
  return [current, ...previous.filter((keys) => keys !== null)]
}

function openKeys(
  { vault, log }: SecretServices,
  id: string,
  sealed: Buffer,
  opened: OpenedKeys,
): WebhookSigningKeys | null {
  const name = sealed.toString('base64')
  const known = opened.get(name)
  if (known !== undefined) return known
  try {
    const keys = signingKeys(vault.open(sealed, secretPurpose(id)).toString('utf8'))
    opened.set(name, keys)
    return keys
  } catch (error) {
    log.error({ err: error, subscription: id }, 'a secret of a webhook subscription cannot be read')
    return null
  }
}
