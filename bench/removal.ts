/** How long an answer takes while old events are removed on SQLite, against the same answer before. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { createHttpServer } from '../daemon/http-server.ts'
import { housekeepingWorker } from '../daemon/workers/housekeeping.ts'
import { openService, testClock } from '../test/support/service.ts'
import type { Measurement } from './merkle.ts'

const EVENTS = 300_000
const IDLE_MS = 3_000
/** Time in which most of them are removed; the rest tells nothing more. */
const REMOVAL_MS = 30_000

/** Asks one answer after the other from a thread of its own, and posts how long each took until it is told to stop. */
const CLIENT = `
const { parentPort, workerData } = require('node:worker_threads')
const { Agent, request } = require('node:http')
const agent = new Agent({ keepAlive: true })
let isOver = false
parentPort.on('message', () => { isOver = true })
const times = []
function ask() {
  const begun = performance.now()
  request({ host: '127.0.0.1', port: workerData, path: '/v2/health', agent }, (answer) => {
    answer.resume().on('end', () => {
      times.push(performance.now() - begun)
      if (!isOver) return setTimeout(ask, 1)
      parentPort.postMessage(times)
      agent.destroy()
    })
  }).end()
}
ask()`

/** A minute or two. */
export async function removal(): Promise<Measurement[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-removal-'))
  // A folder that holds something is migrated here, and takes no copy that a test run has made.
  writeFileSync(join(dataDir, 'bench'), '')
  const service = await openService({ dataDir, clock: testClock(), settings: { 'retention.events-days': 1 } })
  const server = createHttpServer(service.app, service.services.config)
  try {
    const { store } = service.services
    await store.write(async (tx) => {
      await sql`
        insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at, latest_at)
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(EVENTS)})
        select n, 'evt_' || hex(randomblob(12)), 'pool.live', 'pool', hex(randomblob(16)), '{}', hex(randomblob(16)), 1, 1
        from numbers`.execute(tx)
      await sql`update counters set value = ${sql.lit(EVENTS)} where name = 'events'`.execute(tx)
    })
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    const { port } = server.address() as AddressInfo
    const idle = await timesDuring(port, () => new Promise((done) => setTimeout(done, IDLE_MS)))
    const stop = new AbortController()
    const during = await timesDuring(port, async () => {
      const timer = setTimeout(() => stop.abort(), REMOVAL_MS)
      await housekeepingWorker.tick({
        ...service.services,
        metrics: { clockFault() {} },
        signal: new AbortController().signal,
        stopping: stop.signal,
      })
      clearTimeout(timer)
    })
    const { left } = await store.db
      .selectFrom('events')
      .select((of) => of.fn.countAll<number>().as('left'))
      .executeTakeFirstOrThrow()
    const floor = 'the same before'
    return [0.5, 0.99].map((part) => {
      const [before, ms] = [partOf(idle, part), partOf(during, part)]
      const name = `health p${part * 100} while events are removed (${EVENTS - left} of ${EVENTS})`
      return { name, ms, ratio: ms / before, floor }
    })
  } finally {
    server.closeAllConnections()
    server.close()
    await service.close()
    rmSync(dataDir, { recursive: true })
  }
}

async function timesDuring(port: number, work: () => Promise<unknown>): Promise<number[]> {
  const client = new Worker(CLIENT, { eval: true, workerData: port })
  const times = new Promise<number[]>((done, failed) => client.once('message', done).once('error', failed))
  await work()
  client.postMessage('stop')
  return times
}

const partOf = (times: readonly number[], part: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * part)] ?? Number.NaN
