/** Durable writes a second of a daemon, against a bare node:http server that commits the same and a plain application. */
import { join } from 'node:path'
import { type FloodTarget, openFloodClient } from './http/client.ts'
import { costsInTurn, rateBeside } from './http/rounds.ts'
import { type ServerProcess, withServers } from './http/server.ts'
import type { Measurement } from './measurement.ts'
import { PLAIN_APPLICATION, PLAIN_GROUP_COMMIT, PLAIN_TOKEN, startPlain } from './plain/start.ts'

const COUNTS = { warmUp: 6_000, requests: 3_000 }
const BODY = JSON.stringify({ name: 'a key of the bench', scopes: ['airdrop:write'] })

/** A minute. Needs a built dist/. */
export function writes(): Promise<Measurement[]> {
  return withServers(async (servers) => {
    const client = openFloodClient()
    try {
      const committing = join(import.meta.dirname, 'http', 'committing-server.ts')
      const bare = await servers.start(['--import', 'tsx', committing, join(servers.folder, 'bare.db')])
      const daemon = await servers.daemon(join(servers.folder, 'daemon'))
      const plain = await startPlain(servers, {})
      const grouped = await startPlain(servers, { isGrouped: true })
      const targets = [
        posting(daemon, daemon.operator),
        posting(bare, ''),
        posting(plain, PLAIN_TOKEN),
        posting(grouped, PLAIN_TOKEN),
      ]
      const [own = [], ...floors] = await costsInTurn(client, targets, COUNTS)
      const names = ['bare node:http', PLAIN_APPLICATION, PLAIN_GROUP_COMMIT]
      return names.map((name, i) => rateBeside('POST /v2/api-keys', own, floors[i] ?? [], name))
    } finally {
      client.close()
    }
  })
}

const posting = (server: ServerProcess, token: string): FloodTarget => ({
  server,
  urls: [`${server.url}/v2/api-keys`],
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: BODY,
})
