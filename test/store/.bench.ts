import { mkdtempSync } from 'node:fs'
import { openStore } from '../../src/store/open.ts'
import { insertToken, pageTokens } from '../../src/store/tokens.ts'
import { appendEvent } from '../../src/store/events.ts'
import { claim, finish } from '../../src/store/idempotency.ts'
import { newId } from '../../src/store/id.ts'
import { token } from './rows.ts'
const root = process.argv[2] ?? '/tmp'
const store = await openStore(process.env.PGURL ? { dataDir: '/tmp', databaseUrl: process.env.PGURL } : { dataDir: mkdtempSync(`${root}/bench-`) })
let n = 0
async function run(label: string, clients: number, total: number, work: (i: number) => Promise<unknown>) {
  let left = total
  const t = performance.now()
  await Promise.all(Array.from({ length: clients }, async () => { while (left-- > 0) await work(n++) }))
  const s = (performance.now() - t) / 1000
  console.log(label.padEnd(46), clients, 'clients', Math.round(total / s), '/s')
}
const one = (i: number) => store.write((tx) => insertToken(tx, token(`m${i}`)))
const ev = (i: number) => ({ id: newId('evt'), type: 't', resource_type: 'r', resource_id: `${i}`, object_json: '{}', external_uid: null, metadata_json: null, dedupe_key: `${i}`, created_at: 1 })
const post = async (i: number) => {
  const key = { apiKeyId: 'k', key: `${i}` }
  await store.write((tx) => claim(tx, { ...key, requestHash: 'h', owner: 'o', now: 1, leaseMs: 10, ttlMs: 10 }))
  await store.write(async (tx) => { await insertToken(tx, token(`m${i}`)); await appendEvent(tx, ev(i)); await finish(tx, { ...key, owner: 'o', status: 201, response: Buffer.alloc(300) }) })
}
await run('warm', 64, 5000, one)
await run('insert one row', 64, 20000, one)
await run('insert one row', 1, 2000, one)
await run('record + event in one write', 64, 10000, (i) => store.write(async (tx) => { await insertToken(tx, token(`m${i}`)); await appendEvent(tx, ev(i)) }))
await run('POST: claim, then record + event + finish', 64, 10000, post)
await run('read page of 20', 64, 5000, () => pageTokens(store.db, { limit: 20 }))
// reads while a write load runs
let writing = true
const load = Promise.all(Array.from({ length: 64 }, async () => { while (writing) await one(n++) }))
const waits: number[] = []
for (let i = 0; i < 300; i++) { const t = performance.now(); await pageTokens(store.db, { limit: 1 }); waits.push(performance.now() - t); await new Promise((r) => setTimeout(r, 1)) }
writing = false; await load
waits.sort((a, b) => a - b); console.log('read under write load: median', waits[150]!.toFixed(3), 'ms, p99', waits[297]!.toFixed(3), 'ms')
await store.close()
