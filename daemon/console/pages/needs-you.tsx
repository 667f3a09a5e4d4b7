/** /console: what needs a person, oldest first, with the command that deals with it. */
import { api } from '../../../src/api/index.ts'
import { Act } from '../act.tsx'
import { tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Copyable, clean, Time, Value } from '../values.tsx'
import { linkTo } from '../view.ts'

const ITEMS = tableOf({
  title: 'What waits',
  route: api.attention.list,
  call: (client, query) => client.attention.list(query),
  empty: 'Nothing waits for you.',
  columns: [
    {
      head: 'What',
      cell: ({ summary, page, command }) => (
        <>
          <a href={linkTo(page)}>{clean(summary)}</a>
          <Copyable text={command} />
        </>
      ),
      text: ({ summary, command }) => `${summary} ${command}`,
    },
    'kind',
    'since',
    'ends_at',
    {
      head: 'Snoozed',
      cell: ({ snoozed_until, snooze_reason }) =>
        snoozed_until === null ? (
          <Value name="snoozed_until" value={null} />
        ) : (
          <>
            until <Time at={snoozed_until} />: {clean(snooze_reason ?? '')}
          </>
        ),
      text: ({ snoozed_until, snooze_reason }) =>
        snoozed_until === null ? null : `until ${snoozed_until}: ${snooze_reason ?? ''}`,
    },
    { head: 'Act', cell: ({ id }, view) => <Act view={view} act="snooze" input={{ id }} /> },
  ],
})

export const needsYouPage = tablePage({
  path: '/console',
  title: 'Needs you',
  inNavigation: true,
  live: ['events', 'transactions', 'pools', 'time'],
  table: ITEMS,
})
