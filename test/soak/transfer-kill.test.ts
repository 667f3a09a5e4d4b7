/** `svc db import` and `svc audit cut`, killed at random moments: what they change is as before or as after, and the same command goes on. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { execa } from 'execa'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { lastAnchor } from '../../src/store/audit/anchors.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { unlimited } from '../store/many-rows.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { randomOf } from '../support/random.ts'
import { makeFolder, openService, removeFolder, temporaryFolder, testClock } from '../support/service.ts'

const DAY = 86_400_000
/** Their removal takes three steps, and their export a dozen pages. */
const OLD_ENTRIES = 1_200
const EVENTS = 20_000
const KILLS = 4
const SEED = 20_261_122

const server = await startPostgres()
const source = makeFolder()
const exported = join(source, 'export.jsonl')
let key = ''
afterAll(async () => {
  removeFolder(source)
  if (!('missing' in server)) await server.stop()
})

/** An installation whose log is old but for its last entry, with many rows beside it, and its export. */
beforeAll(async () => {
  const dataDir = join(source, 'data')
  const clock = testClock(Date.now() - 500 * DAY)
  mkdirSync(dataDir, { mode: 0o700 })
  const service = await openService({ dataDir, clock })
  const make = async (name: string) =>
    expect((await service.request('POST', '/v2/api-keys', { body: { name } })).status).toBe(201)
  for (let n = 0; n < OLD_ENTRIES; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, k) => make(`key ${n + k}`)))
  clock.advance(490 * DAY)
  await make('young')
  const { store } = service.services
  await store.write(async (tx) => {
    await unlimited(store, tx)
    await sql`
      insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at, latest_at)
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(EVENTS)})
      select n, 'evt_' || n, 'pool.live', 'pool', 'pool-' || n, '{}', 'key ' || n, 1, 1 from numbers`.execute(tx)
    await sql`update counters set value = ${sql.lit(EVENTS)} where name = 'events'`.execute(tx)
  })
  await service.close()
  key = readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim()
  const { exitCode, stderr } = await svc({ dataDir }, ['db', 'export', exported])
  expect(exitCode, stderr).toBe(0)
}, 600_000)

const environment = ({ dataDir, databaseUrl }: StoreOptions): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: source,
  SVC_DATA_DIR: dataDir,
  SVC_ENCRYPTION_KEY: key,
  ...(databaseUrl !== undefined && { SVC_DATABASE_URL: databaseUrl }),
})

/** Runs a command as a process of its own; it is killed, if it still runs, when `until` says so. */
async function svc(options: StoreOptions, args: string[], until?: () => boolean | Promise<boolean>) {
  const began = performance.now()
  const child = execa(process.execPath, [PROGRAM, ...args], {
    cwd: source,
    env: environment(options),
    extendEnv: false,
    reject: false,
  })
  const running = { is: true }
  const ended = child.finally(() => {
    running.is = false
  })
  while (until !== undefined && running.is) {
    if (await until()) child.kill('SIGKILL')
    await pause(1)
  }
  const { exitCode, signal, stdout, stderr } = await ended
  return { exitCode, signal, stdout, stderr, tookMs: performance.now() - began }
}

/** A moment in the `n`-th part of so many milliseconds. The first third of them goes into the start of the process. */
function momentOf(tookMs: number, n: number, random: ReturnType<typeof randomOf>): () => boolean {
  const at = performance.now() + tookMs * (0.3 + 0.8 * ((n + random.next()) / KILLS))
  return () => performance.now() >= at
}

async function counted(options: StoreOptions) {
  const store = await openStore(options)
  const count = async (query: RawBuilder<{ n: number }>) => Number((await query.execute(store.db)).rows[0]!.n)
  try {
    return {
      events: await count(sql`select count(*) as n from events`),
      audit: await count(sql`select count(*) as n from audit_entries`),
      keys: await count(sql`select count(*) as n from api_keys`),
      settings: await count(sql`select count(*) as n from settings where name like '%fingerprint%'`),
      anchors: await count(sql`select count(*) as n from audit_anchors`),
    }
  } finally {
    await store.close()
  }
}

/** Says whether the log was cut, through a connection that ends with the test. */
async function isAnchored(options: StoreOptions): Promise<() => Promise<boolean>> {
  const store = await openStore(options)
  onTestFinished(() => store.close())
  return async () => (await lastAnchor(store.db)) !== null
}

const EMPTY = { events: 0, audit: 0, keys: 0, settings: 0, anchors: 0 }

async function expectIntact(options: StoreOptions): Promise<void> {
  const { exitCode, stdout, stderr } = await svc(options, ['audit', 'verify'])
  expect([exitCode, stdout], stderr).toEqual([0, expect.stringContaining('all intact')])
}

describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in server
  const random = randomOf(SEED)
  const target = async (): Promise<StoreOptions> => {
    const dataDir = temporaryFolder()
    return name === 'PostgreSQL' && !('missing' in server)
      ? { dataDir, databaseUrl: await server.createDatabase() }
      : { dataDir }
  }

  it.skipIf(missing)('an import is there or it is not, and is repeated', async () => {
    const whole = await target()
    const unkilled = await svc(whole, ['db', 'import', exported, '--yes'])
    expect(unkilled.exitCode, unkilled.stderr).toBe(0)
    const after = await counted(whole)
    // The exporting installation's operator key has an entry too.
    expect(after).toMatchObject({ events: EVENTS, audit: OLD_ENTRIES + 2 })
    await expectIntact(whole)
    const moments: string[] = []
    for (let n = 0; n < KILLS; n++) {
      const options = await target()
      const moment = momentOf(unkilled.tookMs, n, random)
      const { signal } = await svc(options, ['db', 'import', exported, '--yes'], moment)
      const found = await counted(options)
      const isAfter = found.events > 0
      expect(found).toEqual(isAfter ? after : EMPTY)
      moments.push(`${signal === undefined ? 'ended' : 'killed'}: ${isAfter ? 'whole' : 'empty'}`)
      const again = await svc(options, ['db', 'import', exported, '--yes'])
      if (isAfter) expect(again).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('is not empty') })
      else expect(again.exitCode, again.stderr).toBe(0)
      expect(await counted(options)).toEqual(after)
      await expectIntact(options)
    }
    process.stdout.write(`  ${name}: imports ${moments.join(', ')}\n`)
    expect(moments).toContain('killed: empty')
  })

  it.skipIf(missing)(
    'a cut leaves the log as it was or cut, its file whole, and goes on when it is repeated',
    async () => {
      const filled = async () => {
        const options = await target()
        const { exitCode, stderr } = await svc(options, ['db', 'import', exported, '--yes'])
        expect(exitCode, stderr).toBe(0)
        return { options, file: join(options.dataDir, 'old.jsonl') }
      }
      const cut = (file: string) => ['audit', 'cut', file, '--yes']
      const whole = await filled()
      const unkilled = await svc(whole.options, cut(whole.file))
      expect(unkilled.exitCode, unkilled.stderr).toBe(0)
      const after = await counted(whole.options)
      // The young entry, the cut, and the operator key of the folder that imported it.
      expect(after).toMatchObject({ audit: 3, anchors: 1 })
      const moments: string[] = []
      for (let n = 0; n < KILLS + 2; n++) {
        const { options, file } = await filled()
        const atState = [() => existsSync(file), await isAnchored(options)][n - KILLS]
        const { signal } = await svc(options, cut(file), atState ?? momentOf(unkilled.tookMs, n, random))
        const { audit, anchors } = await counted(options)
        await expectIntact(options)
        const hasFile = existsSync(file)
        if (anchors === 0) expect([OLD_ENTRIES + 2, OLD_ENTRIES + 3]).toContain(audit)
        else expect(hasFile).toBe(true)
        if (hasFile) await expectFile(options, file)
        moments.push(`${signal === undefined ? 'ended' : 'killed'}: ${hasFile ? 'file' : 'no file'}, ${audit} entries`)
        const again = await svc(options, cut(file))
        expect([again.exitCode, again.stdout], again.stderr).toEqual([0, expect.stringMatching(/ to \S+old\.jsonl/)])
        expect(await counted(options)).toEqual(after)
        await expectFile(options, file)
        await expectIntact(options)
      }
      process.stdout.write(`  ${name}: cuts ${moments.join('; ')}\n`)
      expect(moments.join()).toContain('killed: no file')
      expect(moments.join()).toContain('killed: file')
    },
  )
})

async function expectFile(options: StoreOptions, file: string): Promise<void> {
  const { exitCode, stdout, stderr } = await svc(options, ['audit', 'verify', '--file', file])
  expect([exitCode, stdout], stderr).toEqual([
    0,
    // With that of the operator key.
    expect.stringContaining(`: ${OLD_ENTRIES + 1} entries, 1 to ${OLD_ENTRIES + 1}`),
  ])
}
