/** Decrypts the secrets that sign a delivery, and caches their keys while they are unchanged. */
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import { previousSecrets, secretPurpose } from '../webhook-subscriptions/secret.ts'
import { signingKeys, type WebhookSigningKeys } from './signature.ts'

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
