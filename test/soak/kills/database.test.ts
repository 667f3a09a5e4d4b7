/** Work over many rows of either database that is killed on the way: replays, removal by age, import, and a cut of the audit log. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { execa } from 'execa'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { lastAnchor } from '../../../src/store/audit/anchors.ts'
import { openStore, type StoreOptions } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { startDaemon } from '../../support/daemon.ts'
import { randomOf } from '../../support/random.ts'
import { openReceiver } from '../../support/receiver.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, openService, removeFolder, testClock } from '../../support/service.ts'
import { databases, insertEvents, type KillDatabase, stopDatabases } from './databases.ts'
import { killTest } from './harness.ts'

/** One event of so many is wanted, so that looking through the others is what takes the time. */
const SHARE = 500
const DAY = 86_400_000

afterAll(stopDatabases)

/** An installation with a subscription to one kind of event, its database open beside the daemon that comes and goes. */
async function subscribed(database: KillDatabase) {
  const dataDir = makeFolder()
  const options = await database.options(dataDir)
  const receiver = await openReceiver()
  const env = { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true', SVC_LOG_LEVEL: 'error', ...database.environment(options) }
  const start = (more: Record<string, string> = {}) =>
    startDaemon({ dataDir, flags: ['--rpc-port', '0'], env: { ...env, ...more } })
  const daemon = await start()
  const body = { url: receiver.url, enabled_events: ['token.created'] }
  const made = await daemon.request('POST', '/v2/webhook-subscriptions', { body })
  expect(made.status, made.text).toBe(201)
  await daemon.stop()
  const store = await openStore(options)
  return {
    daemon,
    start,
    store,
    receiver,
    subscription: made.json.data.id as string,
    async end(world: { daemon: { stop(signal?: NodeJS.Signals): Promise<void> } }) {
      await world.daemon.stop('SIGKILL')
      await store.close()
      await receiver.close()
      removeFolder(dataDir)
    },
  }
}

/** A replay in one step would delay answers by 39 seconds for a million events, on a busy machine by all of its time. */
const ANSWER_MS = 3_000

async function replayUnderWay(database: KillDatabase, count: number) {
  const world = await subscribed(database)
  const { store } = world
  await insertEvents(store, count, { share: SHARE })
  // Only the replay brings what happened before.
  await store.write((tx) => tx.updateTable('webhook_subscriptions').set({ cursor: count }).execute())
  const made = {
    ...world,
    daemon: await world.start(),
    slowest: 0,
    left: 0,
    open: () => store.db.selectFrom('webhook_replays').select('through').executeTakeFirst(),
    async timed(method: string, path: string, sent?: unknown) {
      const began = performance.now()
      const answer = await made.daemon.request(method, path, sent === undefined ? {} : { body: sent })
      made.slowest = Math.max(made.slowest, performance.now() - began)
      return answer
    },
  }
  const replay = await made.timed('POST', `/v2/webhook-subscriptions/${world.subscription}/replays`, { since: 0 })
  expect(replay.json.data).toEqual({ queued: 2_000 / SHARE, through_sequence: 2_000, last_sequence: count })
  return made
}

for (const [at, database] of databases.entries()) {
  const count = at === 0 ? soakRuns(50_000, 300_000) : soakRuns(40_000, 200_000)
  killTest({
    title: `a replay of ${count} events on ${database.name} by a daemon that is killed:`,
    skip: database.missing,
    start: () => replayUnderWay(database, count),
    points: () => [count / 4],
    async kill(world, through) {
      while (((await world.open())?.through ?? count) < through) await world.timed('GET', '/v2/pools')
      await world.daemon.stop('SIGKILL')
      world.left = (await world.open())!.through
      expect(world.left).toBeLessThan(count)
      world.daemon = await world.start()
    },
    end: (world) => world.end(world),
    holds: {
      async 'each event is delivered, and no answer waits for the replay'(world) {
        const { receiver, open, timed } = world
        const wanted = count / SHARE
        const ids = () => new Set(receiver.all.map((delivered) => delivered.id))
        const began = performance.now()
        const until = began + 480_000
        while ((ids().size < wanted || (await open()) !== undefined) && performance.now() < until) {
          await timed('GET', '/v2/events?limit=1')
          await timed('POST', '/v2/api-keys', { name: 'meanwhile' })
        }
        expect(await open()).toBeUndefined()
        expect(ids().size).toBe(wanted)
        expect(receiver.all.every(({ sequence }) => sequence % SHARE === 0)).toBe(true)
        // Only what was under way when it was killed comes twice.
        expect(receiver.all.length - wanted).toBeLessThanOrEqual(32)
        process.stdout.write(
          `  ${database.name}: slowest answer ${world.slowest.toFixed(0)} ms, killed at ${world.left} of ${count}\n`,
        )
        expect(world.slowest).toBeLessThan(Math.max(ANSWER_MS, (performance.now() - began) / 4))
      },
    },
  })
}

const OLD = 60_000
const YOUNG = 1_000
const LAST = OLD + YOUNG
/** The subscription has yet to come to half of them. */
const CURSOR = 30_000
/** Removed up to here, it is killed: all of it while half of the old events are still to be delivered. */
const REMOVAL_KILLS = [3_000, 15_000, 27_000]

const oneRow = async <T>(store: Store, query: RawBuilder<T>) => (await query.execute(store.db)).rows[0]!

/** The first event that is still stored; read so often that a kill comes in the middle of the removal. */
const firstStored = async (store: Store) =>
  (await oneRow(store, sql<{ first: number }>`select value as first from counters where name = 'events_first'`)).first

/** What is stored after a kill: where it begins, and what was removed before. */
async function storedNow(store: Store) {
  const one = <T>(query: RawBuilder<T>) => oneRow(store, query)
  const first = await firstStored(store)
  const events = await one(
    sql<{ from: number; to: number; rows: number }>`
      select min(sequence) as "from", max(sequence) as "to", count(*) as rows from events`,
  )
  const { keys } = await one(sql<{ keys: number }>`select count(*) as keys from removed_event_keys`)
  return { first, ...events, rows: Number(events.rows), keys: Number(keys) }
}

async function removalUnderWay(database: KillDatabase) {
  const world = await subscribed(database)
  await insertEvents(world.store, LAST, { share: SHARE, old: OLD })
  await world.store.write((tx) => tx.updateTable('webhook_subscriptions').set({ cursor: CURSOR }).execute())
  return {
    ...world,
    kills: [] as number[],
    restart: () => world.start({ SVC_RETENTION_EVENTS_DAYS: '1' }),
    isAt: (sequence: number) =>
      vi.waitUntil(async () => (await firstStored(world.store)) >= sequence, { interval: 1, timeout: 300_000 }),
  }
}

for (const database of databases) {
  killTest({
    title: `the removal of old events on ${database.name} by a daemon that is killed ${REMOVAL_KILLS.length} times:`,
    skip: database.missing,
    start: () => removalUnderWay(database),
    points: () => REMOVAL_KILLS,
    async kill(world, target) {
      world.daemon = await world.restart()
      await world.isAt(target)
      await world.daemon.stop('SIGKILL')
      const { first, from, to, rows, keys } = await storedNow(world.store)
      // A whole end of the sequence.
      expect([from, to, rows, keys]).toEqual([first, LAST, LAST + 1 - first, first - 1])
      world.kills.push(first)
    },
    end: (world) => world.end(world),
    holds: {
      async 'the subscription gets each event, and only old ones are removed'(world) {
        process.stdout.write(`  ${database.name}: killed at ${world.kills.join(', ')}\n`)
        expect(new Set(world.kills).size).toBeGreaterThan(1)
        world.daemon = await world.restart()
        const wanted = Array.from({ length: (LAST - CURSOR) / SHARE }, (_, n) => CURSOR + (n + 1) * SHARE)
        const delivered = () =>
          [...new Set(world.receiver.all.map(({ sequence }) => sequence))].toSorted((a, b) => a - b)
        await expect.poll(delivered, { timeout: 300_000 }).toEqual(wanted)
        const queued = async () =>
          (await world.store.db.selectFrom('webhook_queue').select('sequence').execute()).length
        await expect.poll(queued, { timeout: 300_000 }).toBe(0)
        // What was still to be delivered at the first look is removed at the next one.
        await world.daemon.stop()
        world.daemon = await world.restart()
        await world.isAt(OLD + 1)
        const stored = await storedNow(world.store)
        expect(stored).toEqual({ first: OLD + 1, from: OLD + 1, to: LAST, rows: YOUNG, keys: OLD })
      },
    },
  })
}

/** Their removal takes three steps, and their export a dozen pages. */
const OLD_ENTRIES = 1_200
const EXPORTED_EVENTS = 20_000
const KILLS = 2

const source = makeFolder()
const exported = join(source, 'export.jsonl')
let key = ''
afterAll(() => removeFolder(source))

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
  await insertEvents(service.services.store, EXPORTED_EVENTS)
  await service.close()
  key = readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim()
  const { exitCode, stderr } = await svc(databases[0]!, { dataDir }, ['db', 'export', exported])
  expect(exitCode, stderr).toBe(0)
}, 600_000)

/** Runs a command as a process of its own; it is killed, if it still runs, when `until` says so. */
async function svc(
  database: KillDatabase,
  options: StoreOptions,
  args: string[],
  until?: () => boolean | Promise<boolean>,
) {
  const began = performance.now()
  const child = execa(process.execPath, [PROGRAM, ...args], {
    cwd: source,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: source,
      SVC_DATA_DIR: options.dataDir,
      SVC_ENCRYPTION_KEY: key,
      ...database.environment(options, key),
    },
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

const EMPTY = { events: 0, audit: 0, keys: 0, settings: 0, anchors: 0 }

/** One command on one database: how it runs unkilled, and a target of its own for each kill. */
async function commandUnderWay(database: KillDatabase, args: (file: string) => string[], isFilled: boolean) {
  const folders: string[] = []
  const run = (options: StoreOptions, words: string[], until?: () => boolean | Promise<boolean>) =>
    svc(database, options, words, until)
  const target = async () => {
    const dataDir = makeFolder()
    folders.push(dataDir)
    const options = await database.options(dataDir)
    if (isFilled) {
      const { exitCode, stderr } = await run(options, ['db', 'import', exported, '--yes'])
      expect(exitCode, stderr).toBe(0)
    }
    return { options, file: join(dataDir, 'old.jsonl') }
  }
  const expectIntact = async (options: StoreOptions, ...words: string[]) => {
    const { exitCode, stdout, stderr } = await run(options, ['audit', 'verify', ...words])
    expect(exitCode, stderr).toBe(0)
    return stdout
  }
  const whole = await target()
  const unkilled = await run(whole.options, args(whole.file))
  expect(unkilled.exitCode, unkilled.stderr).toBe(0)
  const random = randomOf(20_261_122)
  return {
    run,
    target,
    after: await counted(whole.options),
    moments: [] as string[],
    async isIntact(options: StoreOptions) {
      expect(await expectIntact(options)).toContain('all intact')
    },
    async isWholeFile(options: StoreOptions, file: string) {
      // With that of the operator key.
      const entries = `: ${OLD_ENTRIES + 1} entries, 1 to ${OLD_ENTRIES + 1}`
      expect(await expectIntact(options, '--file', file)).toContain(entries)
    },
    /** A moment in the `n`-th part of the unkilled run. Its first third goes into the start of the process. */
    momentOf(n: number): () => boolean {
      const at = performance.now() + unkilled.tookMs * (0.3 + 0.8 * ((n + random.next()) / KILLS))
      return () => performance.now() >= at
    },
    end: async () => folders.forEach(removeFolder),
  }
}

const how = (signal: unknown) => (signal === undefined ? 'ended' : 'killed')

for (const database of databases) {
  const importing = ['db', 'import', exported, '--yes']
  killTest({
    title: `svc db import on ${database.name}, killed ${KILLS} times:`,
    skip: database.missing,
    start: () => commandUnderWay(database, () => importing, false),
    points: () => Array.from({ length: KILLS }, (_, n) => n),
    async kill({ run, target, after, moments, momentOf, isIntact }, n) {
      const { options } = await target()
      const { signal } = await run(options, importing, momentOf(n))
      const found = await counted(options)
      const isAfter = found.events > 0
      expect(found).toEqual(isAfter ? after : EMPTY)
      moments.push(`${how(signal)}: ${isAfter ? 'whole' : 'empty'}`)
      const again = await run(options, importing)
      if (isAfter) expect(again).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('is not empty') })
      else expect(again.exitCode, again.stderr).toBe(0)
      expect(await counted(options)).toEqual(after)
      await isIntact(options)
    },
    end: ({ end }) => end(),
    holds: {
      'the import is whole or empty, and can be repeated'({ after, moments }) {
        // The exporting installation's operator key has an entry too.
        expect(after).toMatchObject({ events: EXPORTED_EVENTS, audit: OLD_ENTRIES + 2 })
        process.stdout.write(`  ${database.name}: imports ${moments.join(', ')}\n`)
        expect(moments).toContain('killed: empty')
      },
    },
  })

  const cut = (file: string) => ['audit', 'cut', file, '--yes']
  killTest({
    title: `svc audit cut on ${database.name}, killed ${KILLS + 3} times:`,
    skip: database.missing,
    start: () => commandUnderWay(database, cut, true),
    points: () => Array.from({ length: KILLS + 3 }, (_, n) => n),
    async kill({ run, target, after, moments, momentOf, isIntact, isWholeFile }, n) {
      const { options, file } = await target()
      const store = await openStore(options)
      const states = [
        () => readdirSync(options.dataDir).some((name) => name.includes('old.jsonl')),
        () => existsSync(file),
        async () => (await lastAnchor(store.db)) !== null,
      ]
      const atState = states[n - KILLS]
      const { signal } = await run(options, cut(file), atState ?? momentOf(n))
      await store.close()
      const { audit, anchors } = await counted(options)
      await isIntact(options)
      const hasFile = existsSync(file)
      if (anchors === 0) expect([OLD_ENTRIES + 2, OLD_ENTRIES + 3]).toContain(audit)
      else expect(hasFile).toBe(true)
      if (hasFile) await isWholeFile(options, file)
      moments.push(`${how(signal)}: ${hasFile ? 'file' : 'no file'}, ${audit} entries`)
      const again = await run(options, cut(file))
      expect([again.exitCode, again.stdout], again.stderr).toEqual([0, expect.stringMatching(/ to \S+old\.jsonl/)])
      expect(await counted(options)).toEqual(after)
      await isWholeFile(options, file)
      await isIntact(options)
    },
    end: ({ end }) => end(),
    holds: {
      'the log is as before or cut, its file is whole, and the cut can be repeated'({ after, moments }) {
        // The young entry, the cut, and the operator key of the folder that imported it.
        expect(after).toMatchObject({ audit: 3, anchors: 1 })
        process.stdout.write(`  ${database.name}: cuts ${moments.join('; ')}\n`)
        expect(moments.join()).toContain('killed: no file')
        expect(moments.join()).toContain('killed: file')
      },
    },
  })
}
