/** Signatures as other people verify them: the standardwebhooks package, and a few lines of node:crypto. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkedKeys } from '../../src/operations/webhook-subscriptions/secret.ts'
import { signatureHeaders } from '../../src/platform/webhook-signature.ts'
import { anyText } from '../support/any-text.ts'
import { runs } from '../support/runs.ts'

const NOW = Date.UTC(2026, 5, 1, 12, 0, 0, 999)
const SECONDS = Math.floor(NOW / 1000)
const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`
const SECRET = secretOf(Buffer.alloc(32, 7))
const OTHER = secretOf(Buffer.alloc(32, 8))
const ID = 'evt_1'
const BODY = '{"id":"evt_1","name":"Žluťoučký 🚀","n":1}'

type Headers = Record<string, string>

/** Spec section 6, written from its text. */
function specVerifies(secret: string, body: string | Uint8Array, headers: Headers, now = SECONDS): boolean {
  const parts = (headers['X-Service-Signature'] ?? '').split(',').map((part) => part.split('=') as [string, string])
  const t = parts.find(([name]) => name === 't')?.[1]
  if (t === undefined || now - Number(t) > 300) return false
  const expected = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(body)]))
    .digest()
  return parts.some(([name, value]) => {
    const given = Buffer.from(value, 'hex')
    return name === 'v1' && given.length === 32 && timingSafeEqual(given, expected)
  })
}

/** The package reads the time of the process, which stands still here. */
function standardVerifies(secret: string, body: string | Uint8Array, headers: Headers): boolean {
  try {
    new Webhook(secret).verify(typeof body === 'string' ? body : Buffer.from(body), headers, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

const verifies = (secret: string, body: string | Uint8Array, headers: Headers) => [
  specVerifies(secret, body, headers),
  standardVerifies(secret, body, headers),
]
interface ToSign {
  eventId: string
  body: string | Uint8Array
  secrets: readonly string[]
  now: number
}
const sign = (over: Partial<ToSign> = {}) => {
  const { secrets, ...delivery }: ToSign = { eventId: ID, body: BODY, secrets: [SECRET], now: NOW, ...over }
  return signatureHeaders({ ...delivery, keys: secrets.map(checkedKeys) })
}

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('the signature of a delivery', () => {
  it('is what spec and Standard Webhooks say, to the letter', () => {
    const key = Buffer.alloc(32, 7)
    const hex = createHmac('sha256', SECRET).update(`${SECONDS}.${BODY}`, 'utf8').digest('hex')
    const base64 = createHmac('sha256', key).update(`${ID}.${SECONDS}.${BODY}`, 'utf8').digest('base64')
    expect(sign()).toEqual({
      'X-Service-Signature': `t=${SECONDS},v1=${hex}`,
      'webhook-id': ID,
      'webhook-timestamp': String(SECONDS),
      'webhook-signature': `v1,${base64}`,
    })
    expect(sign()['webhook-signature']).toBe(new Webhook(SECRET).sign(ID, new Date(NOW), BODY))
    expect(sign({ body: Buffer.from(BODY) })).toEqual(sign())
  })

  it('verifies with either secret during a rotation, and with no other', () => {
    const headers = sign({ secrets: [SECRET, OTHER] })
    expect(headers['X-Service-Signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/)
    expect(verifies(SECRET, BODY, headers)).toEqual([true, true])
    expect(verifies(OTHER, BODY, headers)).toEqual([true, true])
    expect(verifies(secretOf(Buffer.alloc(32, 9)), BODY, headers)).toEqual([false, false])
    expect(verifies(OTHER, BODY, sign())).toEqual([false, false])
  })

  it('is refused once it is older than five minutes, and with a time that was changed', () => {
    const headers = sign({ now: NOW - 301_000 })
    expect(verifies(SECRET, BODY, headers)).toEqual([false, false])
    expect(verifies(SECRET, BODY, sign({ now: NOW - 300_000 }))).toEqual([true, true])
    const moved = {
      ...headers,
      'X-Service-Signature': headers['X-Service-Signature']!.replace(/t=\d+/, `t=${SECONDS}`),
      'webhook-timestamp': String(SECONDS),
    }
    expect(verifies(SECRET, BODY, moved)).toEqual([false, false])
  })

  it('verifies for every body, id and secret', { tags: 'sampled' }, () => {
    const cases = fc.tuple(anyText(), fc.stringMatching(/^evt_[0-9A-Za-z]{1,40}$/), key, key)
    fc.assert(
      fc.property(cases, ([body, eventId, one, two]) => {
        const headers = sign({ eventId, body, secrets: [secretOf(one), secretOf(two)] })
        for (const secret of [one, two]) expect(verifies(secretOf(secret), body, headers)).toEqual([true, true])
      }),
      { numRuns: runs(15, 100) },
    )
  })

  it('fails for any changed byte of the body, any other id and any other secret', { tags: 'sampled' }, () => {
    const cases = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), between(1, 255), key)
    fc.assert(
      fc.property(cases, ([bytes, at, change, secret]) => {
        // The package reads a body as text: ASCII keeps every change visible to it.
        const body = bytes.map((byte) => byte & 0x7f)
        const headers = sign({ body, secrets: [secretOf(secret)] })
        expect(verifies(secretOf(secret), body, headers)).toEqual([true, true])
        const changed = Uint8Array.from(body)
        changed[at % body.length]! ^= change & 0x7f || 1
        expect(verifies(secretOf(secret), changed, headers)).toEqual([false, false])
        expect(verifies(secretOf(secret), body.subarray(1), headers)).toEqual([false, false])
        expect(standardVerifies(secretOf(secret), body, { ...headers, 'webhook-id': 'evt_2' })).toBe(false)
        const other = Uint8Array.from(secret)
        other[at % other.length]! ^= change
        expect(verifies(secretOf(other), body, headers)).toEqual([false, false])
      }),
      { numRuns: runs(20, 150) },
    )
  })

  it('fails for any changed character of a signature', { tags: 'sampled' }, () => {
    const headers = sign()
    fc.assert(
      fc.property(fc.nat(63), fc.nat(42), (hexAt, base64At) => {
        const [ours, standard] = [headers['X-Service-Signature']!, headers['webhook-signature']!]
        const changed = {
          ...headers,
          'X-Service-Signature': swap(ours, ours.length - 64 + hexAt),
          'webhook-signature': swap(standard, 'v1,'.length + base64At),
        }
        expect(verifies(SECRET, BODY, changed)).toEqual([false, false])
      }),
      { numRuns: runs(20, 100) },
    )
  })

  it('is never left out: without a readable secret it throws and tells none of it', () => {
    const unreadable = [
      '',
      'whsec_',
      'whsec_%%%%',
      SECRET.slice(6),
      `${SECRET}\n`,
      `${SECRET}x`,
      'whsec_c2VjcmV0LXRleHQ',
    ]
    for (const secrets of [[], ...unreadable.map((secret) => [secret]), [SECRET, '']]) {
      expect(() => sign({ secrets }), JSON.stringify(secrets)).toThrow(
        /^a webhook secret is not readable; rotate the secret of the subscription$/,
      )
    }
  })

  it('comes from secrets as subscriptions make them', () => {
    const secret = secretOf(randomBytes(32))
    expect(verifies(secret, BODY, sign({ secrets: [secret] }))).toEqual([true, true])
  })
})

const between = (min: number, max: number) => fc.integer({ min, max })
const key = fc.uint8Array({ minLength: 24, maxLength: 64 })
const swap = (text: string, at: number) => text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
