/** A database that is damaged, full or unreachable: readiness and `svc doctor` report it, and no answered write is lost. */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { databaseFault, trackFaults } from '../../src/store/faults.ts'
import { PROGRAM } from '../cli/command-line.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { openHostileNode } from '../support/hostile-node.ts'
import { requester } from '../support/request.ts'
import { ORIGIN, startService, temporaryFolder } from '../support/service.ts'

async function daemonAt(dataDir: string, url: string): Promise<Daemon> {
  const daemon = await startDaemon({ dataDir, flags: ['--url', url] })
  onTestFinished(() => daemon.stop('SIGKILL'))
  return daemon
}

const readyOf = async (daemon: Daemon) => {
  const { status, json } = await daemon.request('GET', '/ready', { key: null })
  return { status, ...json.data }
}

const makeKey = (daemon: Daemon, name: string) => daemon.request('POST', '/v2/api-keys', { body: { name } })

/** Overwrites the root page of a table, as a disk does that loses a block. */
function damage(file: string, table: string): void {
  const database = new Database(file)
  database.pragma('wal_checkpoint(TRUNCATE)')
  const { rootpage } = database.prepare('select rootpage from sqlite_master where name = ?').get(table) as {
    rootpage: number
  }
  const size = database.pragma('page_size', { simple: true }) as number
  database.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(size, 0xa5), 0, size, (rootpage - 1) * size)
  closeSync(handle)
}

const doctor = (dataDir: string) => {
  const env = { PATH: process.env.PATH ?? '', HOME: dataDir }
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--data-dir', dataDir, '--json'], {
    env,
    encoding: 'utf8',
  })
  return { status, checks: JSON.parse(stdout) as { check: string; status: string; detail: string; fix: string }[] }
}

describe('a SQLite file with a damaged page', () => {
  it('makes /ready answer 503 once a request has read it, while other tables are still read and written', async () => {
    const dataDir = temporaryFolder()
    const node = await openHostileNode({ kind: 'answers' })
    const before = await daemonAt(dataDir, node.url)
    expect((await makeKey(before, 'whole')).status).toBe(201)
    expect(await readyOf(before)).toMatchObject({ status: 200, ready: true })
    await before.stop()
    damage(join(dataDir, 'svc.db'), 'events')
    const daemon = await daemonAt(dataDir, node.url)
    expect((await daemon.request('GET', '/v2/events')).status).toBe(500)
    const sick = { database: expect.stringContaining('the database is damaged') }
    await expect.poll(() => readyOf(daemon)).toMatchObject({ status: 503, ready: false, reasons: sick })
    expect((await makeKey(daemon, 'still')).status).toBe(201)
  }, 60_000)

  it('is reported by svc doctor, and so is a damaged chain file', async () => {
    const dataDir = temporaryFolder()
    const daemon = await startDaemon({ dataDir })
    expect((await makeKey(daemon, 'whole')).status).toBe(201)
    await daemon.stop()
    const healthy = doctor(dataDir).checks.find(({ check }) => check === 'database')
    expect(healthy).toMatchObject({ status: 'ok', detail: 'sqlite opens, is intact and accepts writes' })
    damage(join(dataDir, 'svc.db'), 'events')
    const chain = new Database(join(dataDir, 'chain.db'))
    chain.exec('create table things (id integer primary key, text text)')
    chain.close()
    damage(join(dataDir, 'chain.db'), 'things')
    const { status, checks } = doctor(dataDir)
    expect(status).toBe(1)
    for (const [check, file] of [
      ['database', 'svc.db'],
      ['chain file', 'chain.db'],
    ] as const) {
      expect(checks).toContainEqual({
        ...{ check, status: 'fail', detail: expect.stringContaining(`${join(dataDir, file)} is damaged: `) },
        fix: expect.stringContaining('restore the file from a backup'),
      })
    }
  }, 60_000)
})

it('damage is reported until a restart, and any other fault until the next write', () => {
  const faults = trackFaults()
  const sqlite = (code: string) => Object.assign(new Error('said'), { code })
  faults.recordError(sqlite('SQLITE_CONSTRAINT_UNIQUE'))
  expect(faults.current()).toBe(null)
  faults.recordError(sqlite('SQLITE_FULL'))
  expect(faults.current()).toBe('full')
  faults.recordWrite()
  expect(faults.current()).toBe(null)
  faults.recordError(new Error('wrapped', { cause: sqlite('SQLITE_CORRUPT_VTAB') }))
  faults.recordWrite()
  expect(faults.current()).toBe('damaged')
  expect(
    ['53100', 'XX001', '25006', '08006', 'ECONNREFUSED', '40001'].map((code) => databaseFault(sqlite(code))),
  ).toEqual([...(['full', 'damaged', 'read-only', 'unreachable', 'unreachable'] as const), null])
})

/** A file system of 24 MB in memory, or why there is none here. */
function smallDisk(): { folder: string } | { missing: string } {
  const folder = join(temporaryFolder(), 'disk')
  mkdirSync(folder)
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', folder])
  if (status !== 0) return { missing: String(error?.message ?? stderr).trim() }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return { folder }
}

/** Takes every block that is left. */
function fill(folder: string): void {
  const file = openSync(join(folder, 'filler'), 'a')
  try {
    for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size, 1))
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
      }
    }
  } finally {
    closeSync(file)
  }
  expect(statfsSync(folder).bavail).toBe(0)
}

it('a full disk makes /ready answer 503 with the reason until there is room, and no answered write is lost', async (test) => {
  const disk = smallDisk()
  if ('missing' in disk) return test.skip(`a full disk: no file system can be mounted here (${disk.missing})`)
  const dataDir = join(disk.folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const node = await openHostileNode({ kind: 'answers' })
  const daemon = await daemonAt(dataDir, node.url)
  const made: string[] = []
  const make = async (name: string) => {
    const { status, json } = await makeKey(daemon, name)
    if (status === 201) made.push(json.data.id)
    return status
  }
  for (let n = 0; n < 20; n++) expect(await make(`before ${n}`)).toBe(201)
  fill(disk.folder)
  // The write-ahead log may have room of its own left.
  await expect.poll(() => make('full'), { timeout: 20_000, interval: 10 }).toBe(500)
  const full = { status: 503, ready: false, checks: { database: 'failing', rpc: 'ok' } }
  await expect
    .poll(() => readyOf(daemon), { timeout: 10_000 })
    .toMatchObject({ ...full, reasons: { database: 'the disk is full: writes fail until there is free space' } })
  expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
  expect(doctor(dataDir).checks.find(({ check }) => check === 'database')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('the disk is full'),
  })
  rmSync(join(disk.folder, 'filler'))
  await expect.poll(() => readyOf(daemon), { timeout: 15_000 }).toMatchObject({ status: 200, ready: true })
  expect(await make('after')).toBe(201)
  await daemon.stop()
  const again = await daemonAt(dataDir, node.url)
  const known = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { json } = await again.request('GET', `/v2/api-keys?limit=100${query}`)
    for (const { id } of json.data) known.add(id)
    cursor = json.meta.next_cursor
  }
  expect(made.filter((id) => !known.has(id))).toEqual([])
  expect(made.length).toBeGreaterThan(20)
}, 90_000)

it('GET /ready answers 503 for a database that takes no write and for workers without progress', async () => {
  const { services, operator } = await startService()
  const [first, ...rest] = services.workers()
  const reason = 'no tick was completed for 40 s: the node is gone'
  const stalled = await createApp({ ...services, workers: () => [{ ...first!, stalled_reason: reason }, ...rest] })
  const { status, json } = await requester(ORIGIN, stalled.fetch, operator)('GET', '/ready', { key: null })
  expect(status).toBe(503)
  expect(json.data).toEqual({
    ...{ ready: false, checks: { database: 'ok', rpc: 'ok', workers: 'failing' } },
    reasons: { workers: 'no progress of webhook-delivery: GET /v2/health/workers says why' },
  })
  await stalled.close()
  const write: typeof services.store.write = async () => {
    throw Object.assign(new Error('attempt to write a readonly database'), { code: 'SQLITE_READONLY' })
  }
  const mute = await createApp({ ...services, store: { ...services.store, write } })
  const answer = await requester(ORIGIN, mute.fetch, operator)('GET', '/ready', { key: null })
  expect([answer.status, answer.json.data.reasons.database]).toEqual([
    503,
    'the database accepts no writes: it is read-only',
  ])
})
