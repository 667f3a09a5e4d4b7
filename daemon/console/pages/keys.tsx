/** /console/keys: the API keys, with scopes, limits, expiry and last use. */
import { api } from '../../../src/api/index.ts'
import type { ConsolePage } from '../page.ts'
import { readTable, Table, tableOf } from '../table.tsx'

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

export const keysPage: ConsolePage = {
  path: '/console/keys',
  title: 'Keys',
  inNavigation: true,
  async content(view) {
    const table = await readTable(view, KEYS)
    return { table, body: <Table view={view} shown={table} /> }
  },
}
