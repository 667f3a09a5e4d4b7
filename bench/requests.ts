/** GET requests a second of a daemon, against a bare node:http server and a straightforward application. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DATABASE_FILE } from '../src/settings/config.ts'
import { type FloodClient, type FloodTarget, openFloodClient } from './http/client.ts'
import { costsInTurn, rateBeside } from './http/rounds.ts'
import { type ServerProcess, type Servers, withServers } from './http/server.ts'
import type { Cost, Measurement } from './measurement.ts'
import { PLAIN_APPLICATION, PLAIN_TOKEN, plainTreeId, startPlain } from './plain/start.ts'

const COUNTS = { warmUp: 10_000, requests: 5_000 }
const FEW_ROWS = 10_000
const MANY_ROWS = 1_000_000
/** Number of different records that are requested. */
const RECORDS = 1_000
const MINT_OF_TREES = 'So11111111111111111111111111111111111111112'
const LIMIT = 100_000_000
const AMPLE = { name: 'bench', scopes: ['*'], rate_limit_per_minute: LIMIT, rate_limit_per_day: LIMIT }
/** Answers with as many bytes as the path names. */
const BARE_SERVER = `
  const bodies = {}
  require('node:http').createServer(({ url }, response) => {
    const body = (bodies[url] ??= 'x'.repeat(Number(url.slice(1))))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  }).listen(0, '127.0.0.1', function () {
    console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port }))
  })`

/** Health, one record and the first page of a server. */
interface Reads {
  health: FloodTarget
  record: FloodTarget
  page: FloodTarget
}

/** Some minutes. Needs a built dist/. */
export function requests(): Promise<Measurement[]> {
  return withServers(async (servers) => {
    const client = openFloodClient()
    try {
      const bare = await servers.start(['-e', BARE_SERVER])
      const plainServer = await startPlain(servers, { trees: FEW_ROWS, limit: LIMIT })
      const ids = Array.from({ length: RECORDS }, (_, n) => plainTreeId(n * 10 + 1))
      const plain = readsOf(plainServer, PLAIN_TOKEN, ids)
      const few = await readsOfDaemon(servers, FEW_ROWS)
      const many = await readsOfDaemon(servers, MANY_ROWS)
      const [record, page] = ['GET of one record of', 'GET of the first page of']
      return [
        ...(await beside(client, 'GET /v2/health', few.health, bare, plain.health)),
        ...(await beside(client, `${record} 10,000`, few.record, bare, plain.record)),
        ...(await beside(client, `${record} 1,000,000`, many.record, bare)),
        ...(await beside(client, `${page} 10,000`, few.page, bare, plain.page)),
        ...(await beside(client, `${page} 1,000,000`, many.page, bare)),
        await growth(client, `${page} 1,000,000`, many.page, few.page),
      ]
    } finally {
      client.close()
    }
  })
}

async function beside(
  client: FloodClient,
  name: string,
  own: FloodTarget,
  bare: ServerProcess,
  plain?: FloodTarget,
): Promise<Measurement[]> {
  const floor = { server: bare, urls: [`${bare.url}/${await bytesOf(own)}`], headers: {} }
  const [mine = [], floors = [], plains]: Cost[][] = await costsInTurn(
    client,
    [own, floor, ...(plain ? [plain] : [])],
    COUNTS,
  )
  return [
    rateBeside(name, mine, floors, 'bare node:http'),
    ...(plains ? [rateBeside(name, mine, plains, PLAIN_APPLICATION)] : []),
  ]
}

async function growth(client: FloodClient, name: string, many: FloodTarget, few: FloodTarget): Promise<Measurement> {
  const [mine = [], floors = []] = await costsInTurn(client, [many, few], COUNTS)
  return rateBeside(name, mine, floors, 'that of 10,000')
}

/** Bytes of an answer's body. */
async function bytesOf({ urls: [url = ''], headers }: FloodTarget): Promise<number> {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return (await response.arrayBuffer()).byteLength
}

function readsOf(server: ServerProcess, bearer: string, ids: readonly string[]): Reads {
  const headers = { authorization: `Bearer ${bearer}` }
  const trees = `${server.url}/v2/merkle-trees`
  return {
    health: { server, urls: [`${server.url}/v2/health`], headers: {} },
    record: { server, urls: ids.map((id) => `${trees}/${id}`), headers },
    page: { server, urls: [trees], headers },
  }
}

/** A daemon over that many stored trees, asked with a key that has limits. */
async function readsOfDaemon(servers: Servers, rows: number): Promise<Reads> {
  const dataDir = join(servers.folder, String(rows))
  // The first one makes the database, which is filled while no daemon runs.
  await servers.stop(await servers.daemon(dataDir))
  const database = new Database(join(dataDir, DATABASE_FILE))
  database.exec(`
    insert into merkle_trees (id, mint, airdrop_count, root, leaf_count, total, list_sha256, status, created_at)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
    select substr(hex(randomblob(23)), 1, 45) || 'A', '${MINT_OF_TREES}', n, lower(hex(randomblob(32))), 1, '1',
      lower(hex(randomblob(32))), 'tree_built', 1760000000000 + n from numbers`)
  const some = database.prepare('select id from merkle_trees where seq % ? = 0').pluck()
  const ids = some.all(rows / RECORDS) as string[]
  database.close()
  const daemon = await servers.daemon(dataDir)
  const headers = { authorization: `Bearer ${daemon.operator}`, 'content-type': 'application/json' }
  const made = await fetch(`${daemon.url}/v2/api-keys`, { method: 'POST', headers, body: JSON.stringify(AMPLE) })
  const { data } = (await made.json()) as { data: { key: string } }
  return readsOf(daemon, data.key, ids)
}
