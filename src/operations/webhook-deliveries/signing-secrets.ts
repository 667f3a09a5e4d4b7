/** Opens the secrets that sign a delivery from the vault. */
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import { previousSecrets, secretPurpose } from '../webhook-subscriptions/secret.ts'

type SecretServices = Pick<Services, 'vault' | 'log'>
type SecretColumns = Pick<Row<'webhook_subscriptions'>, 'id' | 'secret' | 'previous_secrets_json'>

/** Returns the current secret first, then rotated ones that still sign, or null when the current one cannot be read. */
export function signingSecrets(services: SecretServices, subscription: SecretColumns, now: number): string[] | null {
  const current = openSecret(services, subscription, subscription.secret)
  // Nothing is ever sent unsigned.
  if (current === null) return null
  const previous = previousSecrets(subscription, now).map(({ secret }) => openSecret(services, subscription, secret))
  return [current, ...previous.filter((secret) => secret !== null)]
}

function openSecret({ vault, log }: SecretServices, { id }: SecretColumns, sealed: Buffer): string | null {
  try {
    return vault.open(sealed, secretPurpose(id)).toString('utf8')
  } catch (error) {
    log.error({ err: error, subscription: id }, 'a secret of a webhook subscription cannot be read')
    return null
  }
}
