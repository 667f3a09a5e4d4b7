/** `svc serve`: the API over HTTP, with its workers, until it is stopped. */
import { integer, type Noun, text, verb } from './command.ts'

export const serveNoun: Noun = {
  verb: verb({
    about: 'Serve the API over HTTP until stopped',
    details:
      'Writes daemon.json (pid, url, cluster, rpc_url) into the data folder; other commands with the same data folder then use it. On the embedded chain it serves that too, as JSON-RPC on 127.0.0.1:8899 and WebSocket on the next port.',
    flags: {
      host: text('Address to listen on (default 127.0.0.1)', { placeholder: 'HOST' }),
      port: integer('Port to listen on, 0 for any (default 8787)', { min: 0, max: 65535 }),
      rpc_host: text('Address of the embedded chain (default 127.0.0.1)', { placeholder: 'HOST' }),
      rpc_port: integer('Port of the embedded chain, 0 for any (default 8899)', { min: 0, max: 65534 }),
    },
    examples: ['svc serve --port 0'],
    async run(flags, session) {
      let shown = Promise.resolve()
      await session.serve(flags, ({ notes, ...data }) => {
        const { url, cluster, rpc_url, ws_url } = data
        shown = session.ui.show({
          data,
          rows: { columns: ['url'], rows: [[url]] },
          text: `Listening on ${url}`,
          notes: [
            `Cluster: ${cluster}${rpc_url === null ? '' : ` · RPC at ${rpc_url} · WebSocket at ${ws_url}`}`,
            ...notes,
            `API reference at ${url}/v2/docs · stop with Ctrl-C`,
          ],
        })
      })
      await shown
      return { data: undefined }
    },
  }),
}
