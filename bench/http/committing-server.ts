/** The floor of durable writes: bare node:http that commits the same rows in groups, prepared, and prints its address. */
import { hash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'

const [, , file = ''] = process.argv
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.pragma('wal_autocheckpoint = 4000')
db.exec(`
  create table idempotency_keys(api_key_id text, key text, request_hash text, status integer, response text,
    created_at integer, expires_at integer, primary key(api_key_id, key)) without rowid;
  create table records(seq integer primary key autoincrement, id text unique, name text, created_at integer);
  create table events(sequence integer primary key, id text unique, object_json text, dedupe_key text unique, created_at integer);
  create table audit_entries(sequence integer primary key, previous_hash text, hash text, at integer, details_json text)`)
const statements = {
  begin: db.prepare('begin immediate'),
  commit: db.prepare('commit'),
  key: db.prepare('insert into idempotency_keys values(?, ?, ?, 201, ?, ?, ?)'),
  record: db.prepare('insert into records(id, name, created_at) values(?, ?, ?)'),
  event: db.prepare('insert into events(id, object_json, dedupe_key, created_at) values(?, ?, ?, ?)'),
  entry: db.prepare('insert into audit_entries(previous_hash, hash, at, details_json) values(?, ?, ?, ?)'),
}
const DAY_MS = 86_400_000
const GROUP = 256
let head = '0'.repeat(64)

interface Write {
  key: string
  body: string
  answer(text: string): void
}
let queue: Write[] = []

function write({ key, body }: Write): string {
  const [at, id] = [Date.now(), randomUUID()]
  const object = JSON.stringify({ id, name: JSON.parse(body).name, created_at: at })
  const text = `{"data":${object}}`
  statements.key.run('key_1', key, hash('sha256', body, 'hex'), text, at, at + DAY_MS)
  statements.record.run(id, 'a record', at)
  statements.event.run(randomUUID(), object, id, at)
  const next = hash('sha256', head + object, 'hex')
  statements.entry.run(head, next, at, object)
  head = next
  return text
}

function flush(): void {
  const group = queue.slice(0, GROUP)
  queue = queue.slice(GROUP)
  statements.begin.run()
  const texts = group.map(write)
  statements.commit.run()
  for (const [i, { answer }] of group.entries()) answer(texts[i] ?? '')
  if (queue.length > 0) setImmediate(flush)
}

async function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => resolve(text))
  })
}

const server = createServer(async (request, response) => {
  const body = await textOf(request)
  const answer = (text: string) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }
  queue.push({ key: String(request.headers['idempotency-key']), body, answer })
  if (queue.length === 1) setImmediate(flush)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
