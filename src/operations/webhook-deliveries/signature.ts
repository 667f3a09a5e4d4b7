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
type SecretColumns = Pick<Row<'webhook_subscriptions'>, 'id' | 'secret' | 'previous_secrets_json'>

interface OpenedKeys {
  sealed: Buffer
  previousJson: string
  /** The time at which they were decrypted, and the next at which one of them expires. */
  from: number
  until: number
  keys: readonly WebhookSigningKeys[]
}

/** The keys of all subscriptions of one round. */
export class SigningKeyring {
  readonly #opened = new Map<string, OpenedKeys>()

  /**
   * Returns the current secret's keys first, then those of rotated ones that still sign, or null if the current one
   * cannot be read. Throws internal_error if the decrypted text is not a secret.
   */
  keysOf(services: SecretServices, subscription: SecretColumns, now: number): readonly WebhookSigningKeys[] | null {
    const { id, secret, previous_secrets_json: previousJson } = subscription
    const known = this.#opened.get(id)
    const isSame = known?.sealed.equals(secret) && known.previousJson === previousJson
    if (known !== undefined && isSame && now >= known.from && now < known.until) return known.keys
    const previous = previousSecrets(subscription, now)
    const secrets = openSecrets(services, id, [secret, ...previous.map((each) => each.secret)])
    if (secrets === null) return null
    const keys = secrets.map(signingKeys)
    const until = Math.min(...previous.map((each) => each.until), Number.POSITIVE_INFINITY)
    this.#opened.set(id, { sealed: secret, previousJson, from: now, until, keys })
    return keys
  }
}

/**
 * Leaves out previous secrets that cannot be read. Returns null without the current one, because nothing is sent
 * unsigned.
 */
function openSecrets(services: SecretServices, id: string, [current, ...previous]: readonly Buffer[]): string[] | null {
  const opened = current === undefined ? null : openSecret(services, id, current)
  if (opened === null) return null
  return [opened, ...previous.map((sealed) => openSecret(services, id, sealed)).filter((secret) => secret !== null)]
}

function openSecret({ vault, log }: SecretServices, id: string, sealed: Buffer): string | null {
  try {
    return vault.open(sealed, secretPurpose(id)).toString('utf8')
  } catch (error) {
    log.error({ err: error, subscription: id }, 'a secret of a webhook subscription cannot be read')
    return null
  }
}
