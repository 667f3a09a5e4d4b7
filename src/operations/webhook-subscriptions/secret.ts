/** Signing secrets of subscriptions: made, shown once, stored sealed, and opened for signing. */
import type { Services } from '../../context.ts'
import { makeSigningSecret, type SigningKeys, signingKeys, unreadableSecret } from '../../platform/webhook-signature.ts'
import type { Row } from '../../store/schema.ts'

export function makeWebhookSecret({ vault }: Services, subscriptionId: string) {
  const secret = makeSigningSecret()
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

const secretPurpose = (subscriptionId: string) => `webhook-secret:${subscriptionId}`

type SecretServices = Pick<Services, 'vault' | 'log'>
/** The keys of secrets that were opened before, by the subscription and the sealed secret. */
export type OpenedKeys = Map<string, SigningKeys>

/**
 * Returns the current secret's keys first, then those of rotated ones that still sign, without unreadable ones. Null if
 * the current secret cannot be read, because nothing is sent unsigned.
 */
export function keysOf(
  services: SecretServices,
  subscription: Pick<Row<'webhook_subscriptions'>, 'id' | 'secret' | 'previous_secrets_json'>,
  now: number,
  opened: OpenedKeys,
): readonly SigningKeys[] | null {
  const { id, secret } = subscription
  const current = openKeys(services, id, secret, opened)
  if (current === null) return null
  const previous = previousSecrets(subscription, now).map((each) => openKeys(services, id, each.secret, opened))
  return [current, ...previous.filter((keys) => keys !== null)]
}

function openKeys({ vault, log }: SecretServices, id: string, sealed: Buffer, opened: OpenedKeys): SigningKeys | null {
  // A sealed secret is that of one subscription.
  const name = `${id} ${sealed.toString('base64')}`
  const known = opened.get(name)
  if (known !== undefined) return known
  try {
    const keys = checkedKeys(vault.open(sealed, secretPurpose(id)).toString('utf8'))
    opened.set(name, keys)
    return keys
  } catch (error) {
    log.error({ err: error, subscription: id }, 'a secret of a webhook subscription cannot be read')
    return null
  }
}

const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Throws internal_error for a text that is not a secret as subscriptions have it. */
export function checkedKeys(secret: string): SigningKeys {
  if (!SECRET.test(secret)) throw unreadableSecret()
  return signingKeys(secret)
}
