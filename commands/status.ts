/** `svc status`: the state of the background workers, and what waits until somebody acts. */

import type { AttentionItem } from '../src/api/attention.ts'
import { paths } from '../src/api/paths.ts'
import { attentionLines, readAttention } from './attention/lines.ts'
import { type Noun, verb } from './cli/command.ts'
import { listOutcome, rowsOfRecords } from './cli/reads.ts'
import type { Session } from './cli/session.ts'
import { terminal } from './cli/terminal.ts'
import { waitingProposals } from './proposals/waiting.ts'

const ROLE_TEXTS = {
  api: 'api; the workers run in other daemons',
  worker: 'worker',
  all: 'all',
}

const NO_DAEMON = 'No daemon runs: this command answered from the data folder. `svc serve` runs the workers.'

/** Most items that are named; `svc attention list` has all. */
const MOST_SHOWN = 20

export const statusNoun: Noun = {
  verb: verb({
    about: 'Show what needs a person, the background workers, and the cluster that they work on',
    details: 'Lists of this folder that `svc airdrops send` has paid in part are named too, by their journals.',
    calls: [paths.service.workers, paths.attention.list, paths.proposals.list],
    examples: ['svc status', 'svc status --api https://svc.example.com --json'],
    async run(_, session) {
      const { data } = await session.client.service.workers()
      const cluster = await session.cluster()
      const counts = ['name', 'running', 'last_tick_at', 'ticks_total', 'errors_total'] as const
      const columns = [...counts, 'last_error', 'stalled_reason'] as const
      // A column that is empty for every worker is omitted on a terminal.
      const shown = columns.filter((column) => data.workers.some((worker) => worker[column] !== null))
      const table = rowsOfRecords(data.workers, shown)
      const role = data.role === null ? NO_DAEMON : `Role: ${ROLE_TEXTS[data.role]}`
      const { items, hasMore, fault } = await readAttention(session)
      const waiting = await waitingLines(session, items, hasMore)
      const unread = fault === null ? [] : [`The list of what needs a person could not be read: ${fault}`]
      const { stoppedLines, stoppedLists } = await import('./lists/batches/stopped.ts')
      const stopped = stoppedLists(terminal().cwd())
      const lines = [...unread, ...waiting, ...stoppedLines(stopped)]
      const notes = [
        ...(lines.length === 0 ? ['Nothing needs a person.'] : lines),
        role,
        ...(cluster === null ? [] : [`Cluster: ${cluster}`]),
      ]
      return {
        ...listOutcome(data.workers, columns),
        table,
        data: { ...data, attention: items, stopped_lists: stopped },
        notes,
      }
    },
  }),
}

/** Open proposals have lines of their own, which say whether they wait for the caller's wallet, and their command. */
async function waitingLines(session: Session, items: readonly AttentionItem[], hasMore: boolean): Promise<string[]> {
  const { ids, lines, more: moreProposals } = await waitingProposals(session)
  const others = items.filter(({ subject }) => !ids.has(subject.id))
  const more = hasMore || others.length > MOST_SHOWN ? ['More needs a person: svc attention list'] : []
  const proposals = lines.flatMap(({ id, line }) => {
    const item = items.find(({ subject }) => subject.id === id)
    return item === undefined ? [line] : [line, `Next: \`${item.command}\``]
  })
  const rest = moreProposals === null ? [] : [moreProposals]
  return [...attentionLines(others.slice(0, MOST_SHOWN)), ...more, ...proposals, ...rest]
}
