/** What `webhooks listen` forwards: its lines, its signatures and secrets to check them with. */
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import type { Delivered } from '../support/receiver.ts'

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
export const numbersOf = (all: readonly { sequence: number }[]) => all.map(({ sequence }) => sequence)
export const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line))

/** X-Service-Signature as docs/webhooks.md describes it, of one or several secrets. */
export function signatureOf(secrets: string[], body: string | Buffer, t = Math.floor(Date.now() / 1000)): string {
  const macs = secrets.map((secret) => createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'))
  return [`t=${t}`, ...macs.map((mac) => `v1=${mac}`)].join(',')
}

export function expectSigned({ body, headers, id }: Delivered, secret: string) {
  const t = Number(headers['webhook-timestamp'])
  expect(headers['x-service-signature']).toBe(signatureOf([secret], body, t))
  expect(headers['webhook-id']).toBe(id)
  expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow()
  expect(() => new Webhook(newSecret()).verify(body, headers as Record<string, string>)).toThrow()
}
