/** What 1,000 requests of each kind leave in a database, by table: `npx tsx bench/growth.ts [--postgres]`; a minute or two. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import pg from 'pg'
import { type App, createApp } from '../daemon/app.ts'
import { type OpenServices, openServices, operatorKey } from '../daemon/services.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { deliverRound } from '../src/operations/webhook-deliveries/deliver.ts'
import { DATABASE_FILE, loadConfig } from '../src/settings/config.ts'
import { TABLES } from '../src/store/installation/installation.ts'
import { launchPostgres } from '../test/store/postgres-launch.ts'
import { recipients } from './merkle/recipients.ts'

const REQUESTS = 1_000
const PARALLEL = 16
const TREE_ENTRIES = 100
const SOL = 1_000_000_000n
const MINT = 'So11111111111111111111111111111111111111112'

/** Time-outs are not what is measured. */
const PATIENT = {
  'postgres.pool-timeout-ms': 60_000,
  'postgres.lock-timeout-ms': 600_000,
  'postgres.statement-timeout-ms': 600_000,
  'postgres.transaction-timeout-ms': 600_000,
  'postgres.idle-transaction-timeout-ms': 600_000,
}

interface World {
  services: OpenServices
  /** Sends one request with the operator's key, or with one that has limits. */
  ask(method: string, path: string, body?: object, more?: { limited?: boolean; key?: string }): Promise<void>
  /** Lets the chain go on, follows what was submitted to its end, and delivers every event. */
  settle(): Promise<void>
}

type Kind = [name: string, request: (world: World, n: number) => Promise<void>]

/** Bytes of each table with its indexes. */
async function tableSizes({ store }: OpenServices, folder: string): Promise<Map<string, number>> {
  if (store.kind === 'sqlite') return sqliteSizes(join(folder, DATABASE_FILE))
  // What was updated and deleted meanwhile is room that the next rows use.
  for (const table of TABLES) await sql`vacuum ${sql.table(table)}`.execute(store.db)
  const { rows } = await sql<{ name: string; bytes: number }>`
    select relname as name, pg_total_relation_size(oid) as bytes from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(store.db)
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

function sqliteSizes(file: string): Map<string, number> {
  const database = new Database(file, { readonly: true })
  try {
    const rows = database
      .prepare(
        'select coalesce(m.tbl_name, s.name) as name, sum(s.payload) as bytes from dbstat s left join sqlite_master m on m.name = s.name group by 1',
      )
      .all() as { name: string; bytes: number }[]
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  } finally {
    database.close()
  }
}

async function inParallel(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      while (next < count) await work(next++)
    }),
  )
}

async function growthOf([name, request]: Kind, subscribed: boolean, databaseUrl?: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-growth-'))
  const receiver = createServer((asked, answer) => asked.resume().on('end', () => answer.end()))
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  const wallet = Keypair.generate()
  writeFileSync(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 })
  const flags = {
    'data-dir': folder,
    'programs-dir': '/nonexistent',
    'webhooks.allow-private': true,
    'priority-fee': 'none',
    signer: 'keypair',
    'signer.keypair': join(folder, 'wallet.json'),
    ...(databaseUrl === undefined ? {} : { 'database-url': databaseUrl, 'encryption-key': '7'.repeat(64), ...PATIENT }),
  }
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const services = { ...(await openServices(loadConfig({ flags, env: {}, cwd: folder }))), clock }
  const app = await createApp(services)
  try {
    const world = await worldOf(services, app, (milliseconds) => {
      ahead += milliseconds
    })
    ;(await services.chain.local()).airdrop(wallet.publicKey.toBase58(), 1_000n * SOL)
    await world.ask('PATCH', '/v2/signer/policy', {
      lamports_per_transaction: String(SOL),
      lamports_per_day: String(100n * SOL),
    })
    if (subscribed) {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
      await world.ask('POST', '/v2/webhook-subscriptions', { url, enabled_events: ['*'] })
    }
    // The first ones leave what is left once.
    await inParallel(PARALLEL, (n) => request(world, n))
    await world.settle()
    const before = await tableSizes(services, folder)
    await inParallel(REQUESTS, (n) => request(world, PARALLEL + n))
    await world.settle()
    const after = await tableSizes(services, folder)
    const grown = [...after]
      .map(([table, bytes]) => [table, bytes - (before.get(table) ?? 0)] as const)
      .filter(([, bytes]) => bytes > 1_000)
      .toSorted(([, one], [, other]) => other - one)
    const total = grown.reduce((sum, [, bytes]) => sum + bytes, 0)
    const parts = grown.map(([table, bytes]) => `${table} ${kilobytes(bytes)}`).join(', ')
    process.stdout.write(`| ${name} | ${kilobytes(total)} | ${parts || 'nothing'} |\n`)
  } finally {
    await app.close()
    await services.close()
    receiver.closeAllConnections()
    receiver.close()
    rmSync(folder, { recursive: true })
  }
}

const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000).toLocaleString('en')} kB`

async function worldOf(services: OpenServices, app: App, advance: (milliseconds: number) => void): Promise<World> {
  const operator = await operatorKey(services)
  const send = async (key: string, method: string, path: string, body?: object, idempotencyKey?: string) => {
    const response = await app.fetch(
      new Request(`http://bench${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return text
  }
  const limits = { name: 'limited', rate_limit_per_minute: 1_000_000, rate_limit_per_day: 1_000_000 }
  const limited = JSON.parse(await send(operator, 'POST', '/v2/api-keys', limits)).data.key as string
  return {
    services,
    async ask(method, path, body, more = {}) {
      await send(more.limited === true ? limited : operator, method, path, body, more.key)
    },
    async settle() {
      const chain = await services.chain.local()
      for (let round = 0; round < 40; round++) {
        chain.advance(20)
        advance(20_000)
        await followTransactions(services)
      }
      await deliverRound(services)
    },
  }
}

/** A transfer of another sum each time, so that no two are one transaction. */
async function transfer({ services }: World, n: number): Promise<string> {
  const chain = await services.chain.local()
  const from = Keypair.generate()
  chain.airdrop(from.publicKey.toBase58(), SOL)
  const instructions = [
    SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: Keypair.generate().publicKey, lamports: 1e8 + n }),
  ]
  const recentBlockhash = chain.latestBlockhash().blockhash
  const message = new TransactionMessage({ payerKey: from.publicKey, recentBlockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([from])
  return Buffer.from(transaction.serialize()).toString('base64')
}

const submission: Kind[1] = async (world, n) =>
  world.ask('POST', '/v2/transactions', { transaction: await transfer(world, n) }, { key: `transaction ${n}` })

const KINDS: readonly [...Kind, subscribed?: boolean][] = [
  ['a read, key with limits', (world) => world.ask('GET', '/v2/pools', undefined, { limited: true })],
  ['POST /v2/transactions, followed to its end', submission],
  ['the same, with one webhook subscription', submission, true],
  [
    'POST /v2/signer/tests, a memo by the platform wallet',
    (world, n) => world.ask('POST', '/v2/signer/tests', { submit: true, memo: `memo ${n}` }, { key: `memo ${n}` }),
  ],
  [
    `POST /v2/merkle-trees of ${TREE_ENTRIES} entries`,
    (world, n) =>
      world.ask('POST', '/v2/merkle-trees', {
        mint: MINT,
        airdrop_count: n,
        entries: Array.from(recipients(TREE_ENTRIES), ([wallet, amount]) => ({ wallet, amount: String(amount) })),
      }),
  ],
  ['POST /v2/api-keys', (world, n) => world.ask('POST', '/v2/api-keys', { name: `key ${n}` }, { key: `key ${n}` })],
]

const header = `| ${REQUESTS.toLocaleString('en')} requests | In all | By table, with its indexes |\n|---|---|---|\n`

async function onPostgres(): Promise<void> {
  const server = await launchPostgres({ settings: { fsync: 'off' } })
  if ('missing' in server) throw new Error(`PostgreSQL cannot be run here: ${server.missing}`)
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  try {
    process.stdout.write(header)
    for (const [i, [name, request, subscribed = false]] of KINDS.entries()) {
      await admin.query(`create database growth_${i}`)
      await growthOf([name, request], subscribed, new URL(`/growth_${i}`, server.url).href)
    }
  } finally {
    await admin.end()
    await server.stop()
  }
}

async function onSqlite(): Promise<void> {
  process.stdout.write(header)
  for (const [name, request, subscribed = false] of KINDS) await growthOf([name, request], subscribed)
}

await (process.argv.includes('--postgres') ? onPostgres() : onSqlite())
