/** Creates signing secrets, which are stored sealed and shown once. */
import { randomBytes } from 'node:crypto'
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'

/** Returns `whsec_` and 32 random bytes in base64. The whole string's UTF-8 is the key of X-Service-Signature. */
export function makeWebhookSecret({ vault }: Services, subscriptionId: string) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return {
    secret,
    columns: { secret: vault.seal(secret, secretPurpose(subscriptionId)), secret_preview: secret.slice(-4) },
  }
}

/** An earlier secret, sealed as stored in `previous_secrets_json`. */
export interface PreviousSecret {
  secret: Buffer
  until: number
}

/** Returns the rotated secrets that still sign, the newest first. */
export function previousSecrets(
  { previous_secrets_json }: Pick<Row<'webhook_subscriptions'>, 'previous_secrets_json'>,
  now: number,
): PreviousSecret[] {
  const all: { secret: string; until: number }[] = JSON.parse(previous_secrets_json)
  return all
    .filter(({ until }) => until > now)
    .map(({ secret, until }) => ({ secret: Buffer.from(secret, 'base64'), until }))
}

export const previousSecretsJson = (previous: readonly PreviousSecret[]): string =>
  JSON.stringify(previous.map(({ secret, until }) => ({ secret: secret.toString('base64'), until })))

export const secretPurpose = (subscriptionId: string) => `webhook-secret:${subscriptionId}`
