/** `svc serve`: the API over HTTP, with its workers, until it is stopped. */
import { DAEMON_ROLES } from '../src/api/daemon-roles.ts'
import { choiceOf, integer, type Noun, text, verb } from './cli/command.ts'
import { outliveReaders } from './cli/standard-output.ts'

const ROLE_NOTES = {
  api: 'Role: api · the workers run in daemons with the role worker or all',
  worker: 'Role: worker · it answers /v2/health, /v2/health/workers, /ready and /metrics only',
}

export const serveNoun: Noun = {
  verb: verb({
    about: 'Serve the API over HTTP until stopped',
    details:
      'Writes daemon.json (pid, database, url, role, cluster, rpc_url) into the data folder; other commands with the same data folder then use it. Daemons on one PostgreSQL database can share the work by role: api answers requests, worker runs the background work and answers only health, readiness and metrics. With the embedded chain it also serves that chain, as JSON-RPC on 127.0.0.1:8899 and WebSocket on the next port.',
    flags: {
      host: text('Address to listen on (default 127.0.0.1)', { placeholder: 'HOST' }),
      port: integer('Port to listen on, 0 for any (default 8787)', { min: 0, max: 65535 }),
      role: choiceOf(DAEMON_ROLES, 'What it does: api (requests), worker (background work) or all (default)'),
      rpc_host: text('Address of the embedded chain (default 127.0.0.1)', { placeholder: 'HOST' }),
      rpc_port: integer('Port of the embedded chain, 0 for any (default 8899)', { min: 0, max: 65534 }),
    },
    examples: ['svc serve --port 0', 'svc serve --role worker'],
    async run(flags, session) {
      outliveReaders()
      let shown = Promise.resolve()
      await session.serve(flags, ({ notes, ...data }) => {
        const { url, role, cluster, rpc_url, ws_url } = data
        shown = session.ui.show({
          data,
          rows: { columns: ['url'], rows: [[url]] },
          text: `Listening on ${url}`,
          notes: [
            `Cluster: ${cluster}${rpc_url === null ? '' : ` · RPC at ${rpc_url} · WebSocket at ${ws_url}`}`,
            ...(role === 'all' ? [] : [ROLE_NOTES[role]]),
            ...notes,
            role === 'worker' ? 'Stop with Ctrl-C' : `API reference at ${url}/v2/docs · stop with Ctrl-C`,
          ],
        })
      })
      await shown
      return { data: undefined }
    },
  }),
}
