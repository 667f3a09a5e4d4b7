/** /console/keys: the API keys, with scopes, limits, expiry and last use. */
import { api } from '../../../src/api/index.ts'
import { tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'

const KEYS = tableOf({
  title: 'API keys',
  route: api.apiKeys.list,
  call: (client, query) => client.apiKeys.list(query),
  empty: 'There are no keys.',
  columns: [
    'id',
    'name',
    'preview',
    'scopes',
    'status',
    'rate_limit_per_minute',
    'rate_limit_per_day',
    'expires_at',
    'allow_ips',
    'previous_key_expires_at',
    'last_used_at',
    'last_used_from',
    'created_at',
    'revoked_at',
  ],
})

export const keysPage = tablePage({
  path: '/console/keys',
  title: 'Keys',
  inNavigation: true,
  table: KEYS,
})
