/** `svc status`: the state of the background workers, and what waits until somebody acts. */
import { paths } from '../src/api/paths.ts'
import { type Noun, verb } from './cli/command.ts'
import { listOutcome, rowsOfRecords } from './cli/reads.ts'
import { waitingProposals } from './proposals/waiting.ts'
import { waitingLines } from './waiting.ts'

const ROLE_TEXTS = {
  api: 'api; the workers run in other daemons',
  worker: 'worker',
  all: 'all',
}

const NO_DAEMON = 'No daemon runs: this command answered from the data folder. `svc serve` runs the workers.'

export const statusNoun: Noun = {
  verb: verb({
    about: 'Read the state of the background workers, which cluster they work on, and what waits',
    calls: [paths.service.workers, paths.proposals.list],
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
      const waiting = [...waitingLines(data.waiting ?? []), ...(await waitingProposals(session))]
      const notes = [...waiting, role, ...(cluster === null ? [] : [`Cluster: ${cluster}`])]
      return { ...listOutcome(data.workers, columns), table, data, notes }
    },
  }),
}
