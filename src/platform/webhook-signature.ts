/** Signatures of webhook deliveries: X-Service-Signature and the headers of Standard Webhooks, with every live secret. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { internal } from './errors.ts'

export const SIGNATURE_HEADERS = {
  service: 'X-Service-Signature',
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  standard: 'webhook-signature',
} as const

type DeliveryBody = string | Uint8Array

const PREFIX = 'whsec_'

/** Returns `whsec_` and 32 random bytes in base64. */
export const makeSigningSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`

/** The keys of one secret. Making them costs more than signing. */
export interface SigningKeys {
  /** Key of X-Service-Signature: the UTF-8 of the whole secret. */
  whole: KeyObject
  /** Key of webhook-signature: the bytes after `whsec_`. */
  standard: KeyObject
}

export const signingKeys = (secret: string): SigningKeys => ({
  whole: createSecretKey(secret, 'utf8'),
  standard: createSecretKey(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64'),
})

const hmac = (key: KeyObject, prefix: string, body: DeliveryBody) =>
  createHmac('sha256', key).update(prefix).update(body)

/** Hex HMAC-SHA256 over `<t>.<body>`. */
export const serviceMac = ({ whole }: SigningKeys, t: string, body: DeliveryBody): string =>
  hmac(whole, `${t}.`, body).digest('hex')

/** Base64 HMAC-SHA256 over `<id>.<t>.<body>`. */
export const standardMac = ({ standard }: SigningKeys, id: string, t: string, body: DeliveryBody): string =>
  hmac(standard, `${id}.${t}.`, body).digest('base64')

export const unreadableSecret = () =>
  internal('a webhook secret is not readable; rotate the secret of the subscription')

/** A delivery to sign. */
export interface UnsignedDelivery {
  /** Id of the event, which is the same at every attempt. */
  eventId: string
  /** The body as it is sent, byte for byte. */
  body: DeliveryBody
  /** The current secret's keys first, then those of previous ones during a rotation. */
  keys: readonly SigningKeys[]
  /** Time of this attempt in Unix milliseconds. */
  now: number
}

/** Throws internal_error without a key, so that nothing is sent unsigned. */
export function signatureHeaders({ eventId, body, keys, now }: UnsignedDelivery): Record<string, string> {
  if (keys.length === 0) throw unreadableSecret()
  const t = String(Math.floor(now / 1000))
  return {
    [SIGNATURE_HEADERS.service]: [`t=${t}`, ...keys.map((key) => `v1=${serviceMac(key, t, body)}`)].join(','),
    [SIGNATURE_HEADERS.id]: eventId,
    [SIGNATURE_HEADERS.timestamp]: t,
    [SIGNATURE_HEADERS.standard]: keys.map((key) => `v1,${standardMac(key, eventId, t, body)}`).join(' '),
  }
}

/** The headers of an attempt that was made then, with masked signatures. */
export const maskedHeaders = (eventId: string, now: number): Record<string, string> => {
  const t = String(Math.floor(now / 1000))
  return {
    [SIGNATURE_HEADERS.service]: `t=${t},v1=***`,
    [SIGNATURE_HEADERS.id]: eventId,
    [SIGNATURE_HEADERS.timestamp]: t,
    [SIGNATURE_HEADERS.standard]: 'v1,***',
  }
}

/** Masks signatures in a text: a receiver may answer with the headers that it got. */
export const withoutSignatures = (text: string): string =>
  text.replace(/\bv1=[0-9a-f]{8,}/gi, 'v1=***').replace(/\bv1,[0-9A-Za-z+/]{8,}=*/g, 'v1,***')
