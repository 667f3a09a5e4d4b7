/** `svc console`: a link that opens the pages for operators, and the sessions that are open. */
import { CONSOLE_ROLES } from '../src/api/console-roles.ts'
import { paths } from '../src/api/paths.ts'
import { type CommandOutcome, choiceOf, integer, type Noun, text, verb } from './cli/command.ts'
import { listOutcome } from './cli/reads.ts'
import type { Session } from './cli/session.ts'
import { failure, usage } from './ui/problem.ts'

const COLUMNS = ['id', 'role', 'api_key_id', 'created_at', 'last_seen_at', 'last_seen_from', 'expires_at'] as const

const ROLE_TEXTS = {
  operator: 'it reads everything, and it may snooze, replay, retry, pause and switch on',
  viewer: 'it reads what a key without scopes reads',
}

export const consoleNoun: Noun = {
  verb: verb({
    about: 'Print a link that opens the console in a browser, once, within 60 seconds',
    details:
      'The console is the pages of `svc serve` for operators. They never sign: they show the command that does. `svc console sessions` lists the browsers that are signed in, and `svc console sessions end ID` ends one.',
    calls: [paths.consoleSessions.link, paths.consoleSessions.list, paths.consoleSessions.end],
    args: {
      what: choiceOf(['sessions'], 'List the open sessions instead'),
      act: choiceOf(['end'], 'End one of them'),
      id: text('Id of the session', { placeholder: 'ID' }),
    },
    flags: {
      role: choiceOf(CONSOLE_ROLES, 'What the session may do (default operator)', ROLE_TEXTS),
      limit: integer('Sessions on a page, 1 to 100 (default 20)', { min: 1, max: 100 }),
      cursor: text('Continue after the page whose next_cursor this is', { placeholder: 'CURSOR' }),
    },
    examples: [
      'svc console',
      'svc console --role viewer',
      'svc console sessions',
      'svc console sessions end cse_3kFz8NcR5uJq2XwTa9VbM7Hd --yes',
    ],
    async run({ what, act, id, role, limit, cursor }, session) {
      if (what === undefined) return link(session, role)
      if (role !== undefined) throw usage('--role is for a new link: leave out `sessions`, or --role')
      if (act === undefined) return sessions(session, { limit: limit?.toString(), cursor })
      if (id === undefined) throw usage('the id of the session is missing', { next: 'svc console sessions' })
      return end(session, id)
    },
  }),
}

async function link(session: Session, role: (typeof CONSOLE_ROLES)[number] | undefined): Promise<CommandOutcome> {
  const api = await session.apiUrl()
  if (api === null) throw failure('No daemon runs, so there is no console', { next: 'svc serve' })
  const { data } = await session.client.consoleSessions.link(role === undefined ? {} : { role })
  const url = data.url ?? api + data.path
  return {
    data: { ...data, url },
    text: url,
    notes: [`Role: ${data.role}; ${ROLE_TEXTS[data.role]}`, 'The link opens the console once, within 60 seconds.'],
  }
}

async function sessions({ client }: Session, query: { limit?: string | undefined; cursor?: string | undefined }) {
  const { data, meta } = await client.consoleSessions.list(query)
  const more = meta.next_cursor === null ? [] : [`More: repeat with --cursor ${meta.next_cursor}`]
  return { ...listOutcome(data, COLUMNS, more), hasMore: meta.has_more }
}

async function end({ client, ui }: Session, id: string): Promise<CommandOutcome> {
  await ui.confirm(`End the session ${id}? Its browser has to sign in again.`)
  return { data: (await client.consoleSessions.end({ id })).data, text: `Ended ${id}.` }
}
