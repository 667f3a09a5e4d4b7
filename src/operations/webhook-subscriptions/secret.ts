/** Signing secrets: made here, stored sealed, shown once. */
import { randomBytes } from 'node:crypto'
import type { Services } from '../../context.ts'

/** `whsec_` and 32 random bytes in base64; the whole string's UTF-8 is the key of X-Service-Signature. */
export function makeSecret({ vault }: Services, subscriptionId: string) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return {
    secret,
    columns: { secret: vault.seal(secret, secretPurpose(subscriptionId)), secret_preview: secret.slice(-4) },
  }
}

export const secretPurpose = (subscriptionId: string) => `webhook-secret:${subscriptionId}`
