/** The floor that users would pick instead: a straightforward application of hono, zod-openapi and better-sqlite3. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context, Next } from 'hono'
import { openTables, type StoredKey, type StoredTree } from './tables.ts'

const [, , file = '', mode = ''] = process.argv
/** With `group`, the works of one turn of the event loop share a transaction, each in a savepoint. */
const isGrouped = mode === 'group'
const { db, counts, sql } = openTables(file)

interface Env {
  Variables: { requestId: string; key: StoredKey }
}

interface Limited {
  id: string
  per_minute: number
  per_day: number
}
const isLimited = (key: StoredKey | Limited): key is Limited => key.per_minute !== null && key.per_day !== null

const sha256 = (data: string) => createHash('sha256').update(data).digest('hex')
const problem = (c: Context<Env>, status: 400 | 401 | 403 | 404 | 429, code: string, message: string) =>
  c.json({ error: { code, message }, meta: { request_id: c.get('requestId') } }, status)

/** Counts a request in slots of a second and of a minute; null when a limit refuses it. */
const admit = counts.transaction((key: Limited, now: number): number | null => {
  const [second, minute] = [Math.floor(now / 1_000), Math.floor(now / 60_000)]
  const usedMinute = sql.used.get(key.id, 1_000, second - 60) as number
  const usedDay = sql.used.get(key.id, 60_000, minute - 1_440) as number
  if (usedMinute >= key.per_minute || usedDay >= key.per_day) return null
  sql.hit.run(key.id, second, 1_000)
  sql.hit.run(key.id, minute, 60_000)
  return key.per_minute - usedMinute - 1
})

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

const authorized = (scope: string) => async (c: Context<Env>, next: Next) => {
  const token = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  const key = token === undefined ? undefined : (sql.key.get(sha256(token)) as StoredKey | undefined)
  if (key === undefined) return problem(c, 401, 'unauthorized', 'Missing or invalid API key')
  if (isLimited(key)) {
    const left = admit.immediate(key, Date.now())
    if (left === null) return problem(c, 429, 'rate_limited', 'Too many requests')
    c.header('RateLimit', `"minute";r=${left};t=60`)
  }
  const scopes = JSON.parse(key.scopes) as string[]
  if (!scopes.includes('*') && !scopes.includes(scope)) return problem(c, 403, 'forbidden', 'API key missing scope')
  c.set('key', key)
  await next()
}

const Meta = z.object({ request_id: z.string() })
const Health = z.object({ data: z.object({ status: z.string() }), meta: Meta })
const Tree = z.object({
  id: z.string(),
  mint: z.string(),
  airdrop_count: z.number(),
  root: z.string(),
  leaf_count: z.number(),
  total: z.string(),
  list_sha256: z.string(),
  status: z.string(),
  created_at: z.string(),
})
const PageMeta = Meta.extend({ has_more: z.boolean(), next_cursor: z.string().nullable(), count: z.number() })
const NewKey = z.object({ name: z.string().min(1).max(100), scopes: z.array(z.string()).min(1) })
const json = <T>(schema: T, description: string) => ({ description, content: { 'application/json': { schema } } })
const treeOf = ({ seq: _, created_at, ...row }: StoredTree) => ({
  ...row,
  created_at: new Date(created_at).toISOString(),
})
const metaOf = (c: Context<Env>) => ({ request_id: c.get('requestId') })

app.openapi(createRoute({ method: 'get', path: '/v2/health', responses: { 200: json(Health, 'Health') } }), (c) =>
  c.json({ data: { status: 'healthy' }, meta: metaOf(c) }, 200),
)

const oneTree = createRoute({
  method: 'get',
  path: '/v2/merkle-trees/{id}',
  middleware: [authorized('airdrop:read')] as const,
  request: { params: z.object({ id: z.string().min(32).max(64) }) },
  responses: { 200: json(z.object({ data: Tree, meta: Meta }), 'Tree'), 404: { description: 'No such tree' } },
})
app.openapi(oneTree, (c) => {
  const row = sql.tree.get(c.req.valid('param').id) as StoredTree | undefined
  if (row === undefined) return problem(c, 404, 'not_found', 'No such tree')
  return c.json({ data: treeOf(row), meta: metaOf(c) }, 200)
})

const pageOfTrees = createRoute({
  method: 'get',
  path: '/v2/merkle-trees',
  middleware: [authorized('airdrop:read')] as const,
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      cursor: z.coerce.number().int().default(Number.MAX_SAFE_INTEGER),
    }),
  },
  responses: { 200: json(z.object({ data: z.array(Tree), meta: PageMeta }), 'Trees') },
})
app.openapi(pageOfTrees, (c) => {
  const { limit, cursor } = c.req.valid('query')
  const rows = sql.trees.all(cursor, limit + 1) as StoredTree[]
  const items = rows.slice(0, limit)
  const has_more = rows.length > limit
  const next_cursor = has_more ? String(items.at(-1)?.seq) : null
  return c.json({ data: items.map(treeOf), meta: { ...metaOf(c), has_more, next_cursor, count: items.length } }, 200)
})

interface Waiting {
  work: () => unknown
  resolve(value: never): void
  reject(error: unknown): void
}

let waiting: Waiting[] = []

const inOneCommit = db.transaction((works: readonly Waiting[]) =>
  works.map(({ work, resolve, reject }) => {
    try {
      // A transaction inside a transaction is a savepoint.
      const value = db.transaction(work)()
      return () => resolve(value as never)
    } catch (error) {
      return () => reject(error)
    }
  }),
)

function flush(): void {
  const works = waiting
  waiting = []
  try {
    for (const settle of inOneCommit.immediate(works)) settle()
  } catch (error) {
    for (const { reject } of works) reject(error)
  }
}

const grouped = <T>(work: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    if (waiting.push({ work, resolve, reject }) === 1) setImmediate(flush)
  })
const durably = <T>(work: () => T): T | Promise<T> => (isGrouped ? grouped(work) : db.transaction(work).immediate())

const newKey = createRoute({
  method: 'post',
  path: '/v2/api-keys',
  middleware: [authorized('keys:write')] as const,
  request: {
    headers: z.object({ 'idempotency-key': z.string().min(1).max(255).optional() }),
    body: { content: { 'application/json': { schema: NewKey } } },
  },
  responses: { 201: { description: 'Key' } },
})
app.openapi(newKey, async (c) => {
  const { name, scopes } = c.req.valid('json')
  const { id: owner } = c.get('key')
  const key = c.req.valid('header')['idempotency-key']
  const bodyHash = sha256(await c.req.text())
  const { status, body } = await durably(() => {
    const before = key === undefined ? undefined : (sql.answered.get(owner, key) as StoredAnswer | undefined)
    if (before !== undefined) return before.body_hash === bodyHash ? before : REUSED
    const now = Date.now()
    const data = {
      id: `key_${randomBytes(12).toString('hex')}`,
      name,
      scopes,
      status: 'active',
      key: `svc_live_${randomBytes(24).toString('hex')}`,
      created_at: new Date(now).toISOString(),
    }
    sql.addKey.run(data.id, sha256(data.key), name, JSON.stringify(scopes), now)
    sql.addEvent.run('api_key.created', JSON.stringify({ id: data.id, name }), now)
    const text = JSON.stringify({ data, meta: metaOf(c) })
    if (key !== undefined) sql.addAnswer.run(owner, key, bodyHash, 201, text, now)
    return { status: 201, body: text }
  })
  return c.body(body, status as 201, { 'content-type': 'application/json' })
})

interface StoredAnswer {
  body_hash: string
  status: number
  body: string
}
const REUSED = { status: 409, body: JSON.stringify({ error: { code: 'conflict', message: 'Idempotency-Key reused' } }) }

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
