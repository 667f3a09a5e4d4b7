/** The floor that users would pick instead: a straightforward application of hono, zod-openapi and better-sqlite3. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import Database from 'better-sqlite3'
import type { Context, Next } from 'hono'
import { PLAIN_TOKEN } from './start.ts'

const [file, trees, limit, mode] = process.argv.slice(2)
type Key = { id: string; scopes: string; per_minute: number; per_day: number }
type Answer = { body_hash: string; status: number; body: string }
type Env = { Variables: { requestId: string; key: Key } }

const sha256 = (data: string) => createHash('sha256').update(data).digest('hex')
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`
  create table api_keys (id text primary key, hash text unique not null, name text not null, scopes text not null,
    per_minute integer not null, per_day integer not null, created_at integer not null);
  create table hits (key_id text not null, slot integer not null, width integer not null, n integer not null,
    primary key (key_id, width, slot)) without rowid;
  create table trees (seq integer primary key, id text unique not null, mint text not null,
    airdrop_count integer not null, root text not null, leaf_count integer not null, total text not null,
    list_sha256 text not null, status text not null, created_at text not null);
  create table outbox (seq integer primary key, type text not null, payload text not null, created_at integer not null);
  create table idempotency (key_id text not null, key text not null, body_hash text not null, status integer not null,
    body text not null, created_at integer not null, primary key (key_id, key)) without rowid;
  insert into api_keys values ('key_bench', '${sha256(PLAIN_TOKEN)}', 'bench', '["*"]', ${limit}, ${limit}, 0);
  insert into trees with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${trees})
    select n, printf('%046d', n), 'So11111111111111111111111111111111111111112', n, lower(hex(randomblob(32))), 1, '1',
      lower(hex(randomblob(32))), 'tree_built', '2026-01-01T00:00:00.000Z' from numbers`)
/** Counts of requests need not survive a power cut. */
const counts = new Database(file)
counts.pragma('synchronous = NORMAL')
const sql = {
  key: db.prepare<[string], Key>('select * from api_keys where hash = ?'),
  tree: db.prepare<[string], TreeRow>('select * from trees where id = ?'),
  trees: db.prepare<[number, number], TreeRow>('select * from trees where seq < ? order by seq desc limit ?'),
  addKey: db.prepare('insert into api_keys values (?, ?, ?, ?, 120, 50000, ?)'),
  addEvent: db.prepare('insert into outbox (type, payload, created_at) values (?, ?, ?)'),
  answered: db.prepare<string[], Answer>('select * from idempotency where key_id = ? and key = ?'),
  addAnswer: db.prepare('insert into idempotency values (?, ?, ?, ?, ?, ?)'),
  hit: counts.prepare('insert into hits values (?, ?, ?, 1) on conflict do update set n = n + 1'),
  used: counts.prepare('select coalesce(sum(n), 0) from hits where key_id = ? and width = ? and slot > ?').pluck(),
}

const problem = (c: Context<Env>, status: 400 | 401 | 403 | 404 | 429, code: string, message: string) =>
  c.json({ error: { code, message }, meta: { request_id: c.get('requestId') } }, status)
const app = new OpenAPIHono<Env>({
  defaultHook: (result, c) => {
    if (!result.success) return problem(c, 400, 'bad_request', result.error.issues[0]?.message ?? '')
  },
})
app.use(async (c, next) => {
  c.set('requestId', `req_${randomUUID()}`)
  c.header('X-Request-Id', c.get('requestId'))
  await next()
})

/**
 * Counts a request in slots of a second and of a minute; returns the remaining requests of the minute, negative if it
 * is refused.
 */
const admit = counts.transaction(({ id, per_minute, per_day }: Key, now: number): number => {
  const [second, minute] = [Math.floor(now / 1_000), Math.floor(now / 60_000)]
  const usedMinute = sql.used.get(id, 1_000, second - 60) as number
  const usedDay = sql.used.get(id, 60_000, minute - 1_440) as number
  if (usedMinute >= per_minute || usedDay >= per_day) return -1
  sql.hit.run(id, second, 1_000)
  sql.hit.run(id, minute, 60_000)
  return per_minute - usedMinute - 1
})

const authorized = (scope: string) => async (c: Context<Env>, next: Next) => {
  const token = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  const key = token && sql.key.get(sha256(token))
  if (!key) return problem(c, 401, 'unauthorized', 'Missing or invalid API key')
  if (key.per_minute > 0) {
    const left = admit.immediate(key, Date.now())
    if (left < 0) return problem(c, 429, 'rate_limited', 'Too many requests')
    c.header('RateLimit', `"minute";r=${left};t=60`)
  }
  const scopes: string[] = JSON.parse(key.scopes)
  if (!scopes.includes('*') && !scopes.includes(scope)) return problem(c, 403, 'forbidden', 'API key missing scope')
  c.set('key', key)
  await next()
}

const Meta = z.object({ request_id: z.string() })
const PageMeta = Meta.extend({ has_more: z.boolean(), next_cursor: z.string().nullable(), count: z.number() })
const texts = { id: z.string(), mint: z.string(), root: z.string(), total: z.string(), list_sha256: z.string() }
const numbers = { airdrop_count: z.number(), leaf_count: z.number() }
const Tree = z.object({ ...texts, ...numbers, status: z.string(), created_at: z.string() })
const NewKey = z.object({ name: z.string().min(1).max(100), scopes: z.array(z.string()).min(1) })
const json = <T>(schema: T) => ({ description: 'OK', content: { 'application/json': { schema } } })
type TreeRow = z.infer<typeof Tree> & { seq: number }
const treeOf = ({ seq: _, ...tree }: TreeRow) => tree
const metaOf = (c: Context<Env>) => ({ request_id: c.get('requestId') })

const health = z.object({ data: z.object({ status: z.string() }), meta: Meta })
app.openapi(createRoute({ method: 'get', path: '/v2/health', responses: { 200: json(health) } }), (c) =>
  c.json({ data: { status: 'healthy' }, meta: metaOf(c) }, 200),
)

const oneTree = createRoute({
  method: 'get',
  path: '/v2/merkle-trees/{id}',
  middleware: [authorized('airdrop:read')] as const,
  request: { params: z.object({ id: z.string().min(32).max(64) }) },
  responses: { 200: json(z.object({ data: Tree, meta: Meta })), 404: { description: 'No such tree' } },
})
app.openapi(oneTree, (c) => {
  const row = sql.tree.get(c.req.valid('param').id)
  return row ? c.json({ data: treeOf(row), meta: metaOf(c) }, 200) : problem(c, 404, 'not_found', 'No such tree')
})

const Page = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.coerce.number().int().default(Number.MAX_SAFE_INTEGER),
})
const pageOfTrees = createRoute({
  method: 'get',
  path: '/v2/merkle-trees',
  middleware: [authorized('airdrop:read')] as const,
  request: { query: Page },
  responses: { 200: json(z.object({ data: z.array(Tree), meta: PageMeta })) },
})
app.openapi(pageOfTrees, (c) => {
  const { limit, cursor } = c.req.valid('query')
  const rows = sql.trees.all(cursor, limit + 1)
  const data = rows.slice(0, limit).map(treeOf)
  const has_more = rows.length > limit
  const next_cursor = has_more ? String(rows[limit - 1]?.seq) : null
  return c.json({ data, meta: { ...metaOf(c), has_more, next_cursor, count: data.length } }, 200)
})

let waiting: { work: () => Answer; resolve(answer: Answer): void; reject(error: unknown): void }[] = []
/** Runs the works of one turn of the event loop in one transaction, each in a savepoint. */
function flush(): void {
  const works = waiting
  waiting = []
  const runAll = db.transaction(() =>
    works.map(({ work, resolve, reject }) => {
      try {
        const answer = db.transaction(work)()
        return () => resolve(answer)
      } catch (error) {
        return () => reject(error)
      }
    }),
  )
  try {
    for (const settle of runAll.immediate()) settle()
  } catch (error) {
    for (const { reject } of works) reject(error)
  }
}
const grouped = (work: () => Answer) =>
  new Promise<Answer>((resolve, reject) => {
    if (waiting.push({ work, resolve, reject }) === 1) setImmediate(flush)
  })
const durably = mode === 'group' ? grouped : (work: () => Answer) => db.transaction(work).immediate()

const newKey = createRoute({
  method: 'post',
  path: '/v2/api-keys',
  middleware: [authorized('keys:write')] as const,
  request: { headers: z.object({ 'idempotency-key': z.string().min(1).max(255) }), body: json(NewKey) },
  responses: { 201: { description: 'The new key' } },
})
const REUSED = { status: 409, body: '{"error":{"code":"conflict"}}', body_hash: '' }
app.openapi(newKey, async (c) => {
  const { name, scopes } = c.req.valid('json')
  const { id: owner } = c.get('key')
  const key = c.req.valid('header')['idempotency-key']
  const bodyHash = sha256(await c.req.text())
  const { status, body } = await durably(() => {
    const before = sql.answered.get(owner, key)
    if (before) return before.body_hash === bodyHash ? before : REUSED
    const [now, id, secret] = [Date.now(), `key_${randomBytes(12).toString('hex')}`, randomBytes(24).toString('hex')]
    const created_at = new Date(now).toISOString()
    const data = { id, name, scopes, status: 'active', key: `svc_live_${secret}`, created_at }
    sql.addKey.run(id, sha256(data.key), name, JSON.stringify(scopes), now)
    sql.addEvent.run('api_key.created', JSON.stringify({ id, name }), now)
    const body = JSON.stringify({ data, meta: metaOf(c) })
    sql.addAnswer.run(owner, key, bodyHash, 201, body, now)
    return { status: 201, body, body_hash: bodyHash }
  })
  return c.body(body, status as 201, { 'content-type': 'application/json' })
})

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
