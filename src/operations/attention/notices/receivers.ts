/** The receivers of notices, as the settings name them. */
import { ATTENTION_KINDS, type AttentionKind } from '../../../api/attention-kinds.ts'
import type { Services } from '../../../context.ts'
import { type Config, ConfigError } from '../../../settings/config.ts'
import type { NoticeForm } from '../../../settings/receiver-settings.ts'

export interface OpenReceiver {
  /** Made of form and URL, which it does not reveal. */
  id: string
  form: NoticeForm
  url: string
  /** Signs its messages; null for other services. */
  secret: string | null
  wants(kind: string): boolean
}

export function openReceivers({ config: { values }, vault }: Pick<Services, 'config' | 'vault'>): OpenReceiver[] {
  return (values['attention-urls'] ?? []).map(({ form, url, kinds }) => ({
    id: vault.mac(`${form} ${url}`, 'attention receiver').slice(0, 32),
    form,
    url,
    secret: form === 'signed' ? (values['attention-secret'] ?? '') : null,
    wants: (kind) => kinds === null || kinds.includes(kind),
  }))
}

/** Throws ConfigError for a kind that does not exist, and for a URL whose messages nothing can sign. */
export function requireReceivers({ values }: Pick<Config, 'values'>): void {
  const receivers = values['attention-urls'] ?? []
  const unknown = receivers
    .flatMap(({ kinds }) => kinds ?? [])
    .find((kind) => !ATTENTION_KINDS.includes(kind as AttentionKind))
  if (unknown !== undefined)
    throw new ConfigError(
      `attention-urls names the kind ${unknown}, which does not exist`,
      `the kinds are ${ATTENTION_KINDS.join(', ')}`,
    )
  if (values['attention-secret'] !== undefined || receivers.every(({ form }) => form !== 'signed')) return
  throw new ConfigError(
    'attention-urls has a URL without slack:, discord: or ntfy:, whose messages are signed, and there is no secret',
    'set SVC_ATTENTION_SECRET to whsec_ and 32 random bytes in base64: echo "whsec_$(openssl rand -base64 32)"',
  )
}
