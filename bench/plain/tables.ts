/** Tables and statements of the straightforward application, with a key that has ample limits and as many trees as asked for. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'

export interface StoredKey {
  id: string
  scopes: string
  /** Null for a key without limits. */
  per_minute: number | null
  per_day: number | null
}

export interface StoredTree {
  seq: number
  id: string
  mint: string
  airdrop_count: number
  root: string
  leaf_count: number
  total: string
  list_sha256: string
  status: string
  created_at: number
}

const TABLES = `
  create table if not exists api_keys (id text primary key, hash text unique not null, name text not null,
    scopes text not null, per_minute integer, per_day integer, created_at integer not null);
  create table if not exists hits (key_id text not null, slot integer not null, width integer not null,
    n integer not null, primary key (key_id, width, slot)) without rowid;
  create table if not exists trees (seq integer primary key, id text unique not null, mint text not null,
    airdrop_count integer not null, root text not null, leaf_count integer not null, total text not null,
    list_sha256 text not null, status text not null, created_at integer not null);
  create table if not exists outbox (seq integer primary key, type text not null, payload text not null,
    created_at integer not null);
  create table if not exists idempotency (key_id text not null, key text not null, body_hash text not null,
    status integer not null, body text not null, created_at integer not null,
    primary key (key_id, key)) without rowid`

/** Opens the file; `counts` is a second connection to it, because counts of requests need not survive a power cut. */
export function openTables(file: string) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(TABLES)
  const counts = new Database(file)
  counts.pragma('synchronous = NORMAL')
  const sql = {
    key: db.prepare('select id, scopes, per_minute, per_day from api_keys where hash = ?'),
    tree: db.prepare('select * from trees where id = ?'),
    trees: db.prepare('select * from trees where seq < ? order by seq desc limit ?'),
    addKey: db.prepare('insert into api_keys values (?, ?, ?, ?, 120, 50000, ?)'),
    addEvent: db.prepare('insert into outbox (type, payload, created_at) values (?, ?, ?)'),
    answered: db.prepare('select body_hash, status, body from idempotency where key_id = ? and key = ?'),
    addAnswer: db.prepare('insert into idempotency values (?, ?, ?, ?, ?, ?)'),
    hit: counts.prepare('insert into hits values (?, ?, ?, 1) on conflict do update set n = n + 1'),
    used: counts.prepare('select coalesce(sum(n), 0) from hits where key_id = ? and width = ? and slot > ?').pluck(),
  }
  return { db, counts, sql }
}

/** Adds a key with every scope and this limit a minute and a day, and trees; returns up to a thousand of their ids. */
export function fill(file: string, token: string, limit: number | null, trees: number): string[] {
  const { db, counts } = openTables(file)
  const hash = createHash('sha256').update(token).digest('hex')
  db.prepare(`insert into api_keys values ('key_bench', ?, 'bench', '["*"]', ?, ?, 0)`).run(hash, limit, limit)
  db.exec(`
    insert into trees (id, mint, airdrop_count, root, leaf_count, total, list_sha256, status, created_at)
    with recursive numbers(n) as (select 1 where ${trees} > 0 union all select n + 1 from numbers where n < ${trees})
    select substr(hex(randomblob(23)), 1, 45) || 'A', 'So11111111111111111111111111111111111111112', n,
      lower(hex(randomblob(32))), 1, '1', lower(hex(randomblob(32))), 'tree_built', 1760000000000 + n from numbers`)
  const some = db.prepare('select id from trees where seq % ? = 0 limit 1000').pluck()
  const ids = some.all(Math.max(1, Math.ceil(trees / 1_000))) as string[]
  counts.close()
  db.close()
  return ids
}
