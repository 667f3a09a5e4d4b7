/** Checks signatures of deliveries: X-Service-Signature and Standard Webhooks. */

import { timingSafeEqual } from 'node:crypto'
import {
  SIGNATURE_HEADERS as SENT,
  type SigningKeys,
  serviceMac,
  signingKeys,
  standardMac,
} from '../../src/platform/webhook-signature.ts'
import { counted } from '../ui/words.ts'

/** The most seconds that a delivery's time may be before or after the local clock. */
const TOLERANCE_S = 300

/** Names as they are read, in lower case. */
export const SIGNATURE_HEADERS = { ...SENT, service: 'x-service-signature' } as const

type DeliveryBody = string | Uint8Array

/** The result of one scheme; `reason` is null if the signature is valid. */
interface SignatureCheck {
  header: string
  valid: boolean
  reason: string | null
  /** Seconds since it was signed; null if the header has no time. */
  age_seconds: number | null
}

/**
 * Checks every signature in the headers (names in lower case); empty if there is none. `now` is in Unix
 * milliseconds.
 */
export function checkSignatures(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): SignatureCheck[] {
  const checks: SignatureCheck[] = []
  const keys = secrets.map(signingKeys)
  const { service, id, timestamp, standard } = SIGNATURE_HEADERS
  if (headers[service] !== undefined) checks.push(checkServiceSignature(headers[service], body, keys, now))
  if (headers[standard] !== undefined) {
    const missing = [id, timestamp].filter((name) => !headers[name])
    checks.push(
      missing.length > 0
        ? verdict(standard, `it cannot be checked without ${missing.join(' and ')}`, null)
        : checkStandardSignature(headers, body, keys, now),
    )
  }
  return checks
}

function checkServiceSignature(
  header: string,
  body: Uint8Array,
  keys: readonly SigningKeys[],
  now: number,
): SignatureCheck {
  const parts = header.split(',').map((part) => part.trim().split(/=(.*)/s))
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signed = parts.filter(([name]) => name === 'v1').map(([, value]) => (value ?? '').toLowerCase())
  if (!/^\d{1,12}$/.test(t) || signed.length === 0)
    return verdict(SIGNATURE_HEADERS.service, 'it is not t=<seconds>,v1=<hex>', null)
  const matches = (text: DeliveryBody) => keys.some((key) => anyEqual(signed, serviceMac(key, t, text)))
  return verdict(SIGNATURE_HEADERS.service, refusalReason(matches, body, Number(t), now), ageOf(Number(t), now))
}

function checkStandardSignature(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  keys: readonly SigningKeys[],
  now: number,
): SignatureCheck {
  const {
    [SIGNATURE_HEADERS.id]: id = '',
    [SIGNATURE_HEADERS.timestamp]: t = '',
    [SIGNATURE_HEADERS.standard]: signatures = '',
  } = headers
  const signed = signatures.split(/\s+/).filter((part) => part.startsWith('v1,'))
  if (!/^\d{1,12}$/.test(t) || signed.length === 0)
    return verdict(SIGNATURE_HEADERS.standard, 'it is not v1,<base64> with a time in seconds', null)
  const macs = signed.map((part) => part.slice('v1,'.length))
  const matches = (text: DeliveryBody) => keys.some((key) => anyEqual(macs, standardMac(key, id, t, text)))
  return verdict(SIGNATURE_HEADERS.standard, refusalReason(matches, body, Number(t), now), ageOf(Number(t), now))
}

const verdict = (header: string, reason: string | null, age_seconds: number | null): SignatureCheck => ({
  header,
  valid: reason === null,
  reason,
  age_seconds,
})

const ageOf = (t: number, now: number) => Math.floor(now / 1000) - t

function refusalReason(
  matches: (body: DeliveryBody) => boolean,
  body: Uint8Array,
  t: number,
  now: number,
): string | null {
  if (!matches(body)) return changeOf(matches, body) ?? 'another secret signed it, or the body was changed'
  const age = ageOf(t, now)
  if (age > TOLERANCE_S) return `the timestamp is ${counted(age, 'second')} old, at most ${TOLERANCE_S} are accepted`
  return -age > TOLERANCE_S ? `the timestamp is ${counted(-age, 'second')} ahead: compare the clocks` : null
}

/** Detects the two changes that a receiver's own code makes to a body, which look like a wrong secret. */
function changeOf(matches: (body: DeliveryBody) => boolean, body: Uint8Array): string | null {
  const text = Buffer.from(body).toString('utf8')
  const bare = text.replace(/\r?\n$/, '')
  if (bare !== text && matches(bare)) return 'the body was changed: a line break was added at its end'
  try {
    if (matches(JSON.stringify(JSON.parse(text))))
      return 'the body was changed: it was parsed and written again; check the bytes as they came'
  } catch {}
  return null
}

/** Whether any of the signatures equals `expected`; each comparison takes constant time. */
function anyEqual(signed: readonly string[], expected: string): boolean {
  const bytes = Buffer.from(expected)
  let isEqual = false
  for (const text of signed) {
    const other = Buffer.from(text)
    if (other.length === bytes.length && timingSafeEqual(other, bytes)) isEqual = true
  }
  return isEqual
}
