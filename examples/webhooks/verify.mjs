/** Verifies a delivery: `WEBHOOK_SECRET=whsec_… node verify.mjs "<X-Service-Signature>" < body`. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

const TOLERANCE_S = 300

/** `body` are the bytes as they came, before any JSON parser; `header` is X-Service-Signature. */
export function isGenuine(body, header, secret, now = Date.now() / 1000) {
  const parts = header.split(',').map((part) => part.trim().split('='))
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d+$/.test(t) || Math.abs(now - Number(t)) > TOLERANCE_S) return false
  const wanted = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  // While a secret is being rotated there are several v1; one that matches is enough.
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, hex]) => Buffer.from(hex ?? '', 'hex'))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted))
}

const genuine = isGenuine(readFileSync(0), process.argv[2] ?? '', process.env.WEBHOOK_SECRET ?? '')
process.stdout.write(genuine ? 'valid\n' : 'invalid\n')
process.exitCode = genuine ? 0 : 1
