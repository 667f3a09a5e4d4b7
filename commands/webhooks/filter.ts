/** `--filter` of `svc webhooks`: which events of its types a subscription wants. */
import type { WebhookFilter } from '../../src/api/webhook-filters.ts'
import type { WebhookSubscription } from '../../src/api/webhook-subscriptions.ts'
import { listOf } from '../cli/command.ts'
import { usage } from '../ui/problem.ts'

export const FILTER_FLAG = listOf(
  'Only events that match: type=pool.*, resource=TYPE:ID, address=ADDR or data.FIELD=VALUE; | between values, repeated for more',
  { placeholder: 'NAME=VALUE' },
)
/** What removes the filter of a subscription. */
const NONE = 'none'

/** The filter of the given conditions; null for `none`. Throws a usage problem that names the condition. */
export function filterIn(conditions: readonly string[]): WebhookFilter | null {
  if (conditions.length === 1 && conditions[0] === NONE) return null
  const parts = new Map<string, string[]>()
  for (const condition of conditions) {
    const at = condition.indexOf('=')
    const values = condition.slice(at + 1).split('|')
    if (at <= 0 || values.includes('')) {
      throw usage(`--filter takes NAME=VALUE, not ${condition}`, {
        param: '--filter',
        next: "for example --filter 'type=pool.*', --filter 'data.status=live|migrated', or --filter none",
      })
    }
    const name = condition.slice(0, at)
    parts.set(name, [...(parts.get(name) ?? []), ...values])
  }
  const { type, resource, address } = Object.fromEntries(parts)
  const fields = [...parts].filter(([name]) => !['type', 'resource', 'address'].includes(name))
  return {
    ...(type === undefined ? {} : { types: type }),
    ...(resource === undefined ? {} : { resources: resource.map(resourceIn) }),
    ...(address === undefined ? {} : { addresses: address }),
    ...(fields.length === 0 ? {} : { fields: fields.map(([field, values]) => ({ field, values })) }),
  }
}

function resourceIn(text: string): { type: string; id: string } {
  const at = text.indexOf(':')
  if (at > 0 && at < text.length - 1) return { type: text.slice(0, at), id: text.slice(at + 1) }
  throw usage(`--filter resource= takes TYPE:ID, not ${text}`, {
    param: '--filter',
    next: 'for example resource=pool:ADDRESS; docs/events.md has the type and id of each event',
  })
}

/** The filter as it is typed; empty without one. */
export function filterText({ filter }: Pick<WebhookSubscription, 'filter'>): string {
  if (filter === null) return ''
  const { types, resources, addresses, fields = [] } = filter
  const part = (name: string, values: readonly string[] | undefined) =>
    values === undefined ? [] : [`${name}=${values.join('|')}`]
  return [
    ...part('type', types),
    ...part(
      'resource',
      resources?.map(({ type, id }) => `${type}:${id}`),
    ),
    ...part('address', addresses),
    ...fields.flatMap(({ field, values }) => part(field, values)),
  ].join(' ')
}
