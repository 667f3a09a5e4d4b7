/** /console/sessions: the browsers that are signed in. */
import { api } from '../../../src/api/index.ts'
import { Act } from '../act.tsx'
import { tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'

const SESSIONS = tableOf({
  title: 'Open sessions',
  route: api.consoleSessions.list,
  call: (client, query) => client.consoleSessions.list(query),
  empty: 'No session is open.',
  columns: [
    { head: 'ID', cell: ({ id }, { session }) => (id === session.id ? `${id} (this one)` : id), text: ({ id }) => id },
    'role',
    'api_key_id',
    'created_at',
    'last_seen_at',
    'last_seen_from',
    'expires_at',
    { head: 'Act', cell: ({ id }, view) => <Act view={view} act="end-session" input={{ id }} /> },
  ],
})

export const sessionsPage = tablePage({
  path: '/console/sessions',
  title: 'Sessions',
  inNavigation: true,
  live: ['time'],
  table: SESSIONS,
})
