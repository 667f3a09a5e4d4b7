/** The restore drill: a daemon under writes is backed up, killed, loses its database and comes back with every write of the backup. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { pageApiKeys } from '../../src/store/requests/api-keys.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { randomOf } from '../support/random.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
const WRITERS = 6
const BACKUPS = 3
/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 7)
const KILLS = Number(process.env.SOAK_KILLS || 4)

interface Acknowledged {
  key: string
  path: string
  body: object
  text: string
}

const home = makeFolder()
afterAll(() => removeFolder(home))

const passphrase = join(home, 'passphrase')
writeFileSync(passphrase, 'a passphrase of the soak', { mode: 0o600 })
const sealed = ['--passphrase-file', passphrase]

/** Runs the built command; rejects unless it succeeds. */
async function svc(dataDir: string, ...args: string[]): Promise<string> {
  const ran = await execa(process.execPath, [PROGRAM, ...args, '--data-dir', dataDir], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home },
    extendEnv: false,
  })
  return ran.stdout
}

describe('a daemon that was backed up and loses its database', () => {
  const dataDir = join(home, 'data')
  const acknowledged: Acknowledged[] = []
  let daemon: Daemon
  let restored: Daemon | undefined
  /** How many writes had been answered when the last backup began, and how many at its end. */
  let before = 0
  let after = 0

  let count = 0
  /** One write after the other until the daemon is gone. */
  async function writeOn(): Promise<void> {
    for (;;) {
      const n = ++count
      const key = `write-${n}`
      const [path, body] =
        n % 2 === 0
          ? ['/v2/api-keys', { name: key }]
          : [
              '/v2/merkle-trees',
              {
                mint: wallet(n % 7),
                airdrop_count: n,
                entries: entries(1 + (n % 60), () => String(n)),
                externalUid: key,
              },
            ]
      try {
        const answer = await daemon.request('POST', path as string, { body, headers: { 'idempotency-key': key } })
        expect(answer.status, answer.text).toBe(201)
        acknowledged.push({ key, path: path as string, body: body as object, text: answer.text })
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }

  beforeAll(async () => {
    mkdirSync(dataDir, { mode: 0o700 })
    daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'] })
    // The embedded chain opens at its first use.
    expect((await daemon.request('GET', '/v2/accounts/11111111111111111111111111111111')).status).toBe(200)
    const busy = Array.from({ length: WRITERS }, writeOn)
    for (let n = 1; n <= BACKUPS; n++) {
      const wanted = acknowledged.length + 60
      await vi.waitUntil(() => acknowledged.length >= wanted, { timeout: 60_000, interval: 5 })
      before = acknowledged.length
      await svc(dataDir, 'db', 'backup', join(home, 'backup'), '--force', ...sealed)
      after = acknowledged.length
    }
    await vi.waitUntil(() => acknowledged.length > after + WRITERS, { timeout: 60_000, interval: 5 })
    await daemon.stop('SIGKILL')
    await Promise.all(busy)
    for (const name of readdirSync(dataDir)) if (/^(?:svc|chain)\.db|\.key$/.test(name)) rmSync(join(dataDir, name))
    await svc(dataDir, 'db', 'restore', join(home, 'backup'), ...sealed)
    restored = await startDaemon({ dataDir, flags: ['--rpc-port', '0'] })
  }, 300_000)
  afterAll(async () => restored?.stop())

  it('took writes during and after the backup', () => {
    expect(existsSync(join(dataDir, 'chain.db'))).toBe(true)
    expect(before).toBeGreaterThan(100)
    expect(after).toBeGreaterThan(before)
    expect(acknowledged.length).toBeGreaterThan(after)
  })

  it('has each write that was answered before the backup began, byte for byte', async () => {
    for (const { key, path, body, text } of acknowledged.slice(0, before)) {
      const answer = await restored!.request('POST', path, { body, headers: { 'idempotency-key': key } })
      expect([key, answer.status, answer.text]).toEqual([key, 201, text])
      expect(answer.headers.get('idempotent-replayed')).toBe('true')
    }
  })

  it('has an intact audit log and events without gaps', async () => {
    const verdict = JSON.parse(await svc(dataDir, 'audit', 'verify', '--json'))
    expect(verdict).toMatchObject({ intact: true, broken: null })
    const events = JSON.parse(await svc(dataDir, 'events', 'list', '--all', '--order', 'asc', '--json'))
    expect(events.length).toBeGreaterThan(50)
    expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      events.map((_: unknown, n: number) => n + 1),
    )
    expect(await svc(dataDir, 'doctor', '-o', 'plain')).not.toMatch(/^fail\t(?:database|encryption key|key file)/m)
  })

  it('takes new writes, and accepts the old keys', async () => {
    const keys = acknowledged.slice(0, before).filter(({ path }) => path === '/v2/api-keys')
    const { key } = JSON.parse(keys.at(-1)!.text).data
    expect((await restored!.request('GET', '/v2/pools', { key })).status).not.toBe(401)
    const tree = { mint: wallet(1), airdrop_count: ++count, entries: entries(3, () => '1') }
    expect((await restored!.request('POST', '/v2/merkle-trees', { body: tree })).status).toBe(201)
  })
})

describe(`svc db, killed (SOAK_SEED=${SEED}):`, () => {
  const { next: random } = randomOf(SEED)
  const dataDir = join(home, 'killed')
  const names = async (): Promise<string[]> => {
    const store = await openStore({ dataDir })
    const { rows } = await pageApiKeys(store.db, { limit: 10 })
    await store.close()
    return rows.map(({ name }) => name)
  }

  /** Kills the command after a part of the time that it takes; true when it was killed. */
  async function killed(part: number, ...args: string[]): Promise<boolean> {
    const child = execa(process.execPath, [PROGRAM, ...args, '--data-dir', dataDir], {
      cwd: home,
      env: { PATH: process.env.PATH ?? '', HOME: home },
      extendEnv: false,
      reject: false,
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), part)
    const { signal } = await child
    clearTimeout(timer)
    return signal === 'SIGKILL'
  }

  beforeAll(async () => {
    await svc(dataDir, 'keys', 'create', '--name', 'first')
    // Large enough that a kill comes in the middle of a copy too.
    const store = await openStore({ dataDir })
    for (let n = 0; n < 40; n++) {
      await store.write((tx) =>
        sql`insert into settings (name, value) values (${`filling ${n}`}, ${'x'.repeat(1_000_000)})`.execute(tx),
      )
    }
    await store.close()
    await svc(dataDir, 'db', 'backup', join(home, 'first'), '--include', 'all')
    await svc(dataDir, 'keys', 'create', '--name', 'second')
  }, 120_000)

  it('a restore leaves the old installation or the new one', async () => {
    const began = performance.now()
    await svc(dataDir, 'db', 'restore', join(home, 'first'), '--force', '--yes')
    const took = performance.now() - began
    const old = ['second', 'first', 'local operator']
    const seen = { old: 0, new: 0, killed: 0 }
    for (let n = 0; n < KILLS; n++) {
      await svc(dataDir, 'keys', 'create', '--name', 'second')
      // Most kills fall into the second half, in which the files are replaced.
      if (await killed(took * (0.3 + 0.8 * random()), 'db', 'restore', join(home, 'first'), '--force', '--yes'))
        seen.killed++
      const found = await names()
      const isOld = found.length === old.length
      expect(found).toEqual(isOld ? old : old.slice(1))
      seen[isOld ? 'old' : 'new']++
      if (isOld) await svc(dataDir, 'db', 'restore', join(home, 'first'), '--force', '--yes')
      for (const name of readdirSync(dataDir))
        if (name.startsWith('before-restore-')) rmSync(join(dataDir, name), { recursive: true })
    }
    expect(seen.killed).toBeGreaterThan(0)
    expect(await svc(dataDir, 'audit', 'verify', '--json')).toMatch(/"intact": true/)
    expect(readdirSync(dataDir).filter((name) => /^\.restore-|^restore\.json/.test(name))).toEqual([])
  })

  it.each([
    ['a folder', ['--include', 'all'], []],
    ['sealed', sealed, sealed],
  ])('a backup that is %s is complete, or absent under its name', async (what, how, opening) => {
    const backup = join(home, 'maybe')
    let whole = 0
    for (let n = 0; n < KILLS / 2; n++) {
      await killed(200 + 1_500 * random(), 'db', 'backup', backup, ...how, '--force')
      if (!existsSync(backup)) continue
      whole++
      await svc(join(home, `from-${n}`), 'db', 'restore', backup, ...opening)
      rmSync(join(home, `from-${n}`), { recursive: true })
      rmSync(backup, { recursive: true })
    }
    await svc(dataDir, 'db', 'backup', backup, ...how, '--force')
    rmSync(backup, { recursive: true })
    for (const folder of [home, dataDir])
      expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
    expect(whole, what).toBeLessThanOrEqual(KILLS / 2)
  })

  it('an export and an import of far more data than the heap are complete', async () => {
    const file = join(home, 'large.jsonl')
    const small = { NODE_OPTIONS: '--max-old-space-size=64' }
    const run = (...args: string[]) =>
      execa(process.execPath, [PROGRAM, ...args, '--json'], {
        cwd: home,
        env: {
          PATH: process.env.PATH ?? '',
          HOME: home,
          ...small,
          SVC_ENCRYPTION_KEY: readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim(),
        },
        extendEnv: false,
      })
    const store = await openStore({ dataDir })
    for (let n = 0; n < 160; n++) {
      await store.write((tx) =>
        sql`insert into settings (name, value) values (${`more ${n}`}, ${'y'.repeat(1_000_000)})`.execute(tx),
      )
    }
    await store.close()
    const exported = JSON.parse((await run('db', 'export', file, '--data-dir', dataDir)).stdout)
    expect(exported.bytes).toBeGreaterThan(190_000_000)
    const imported = JSON.parse((await run('db', 'import', file, '--data-dir', join(home, 'imported'))).stdout)
    expect(imported.tables).toEqual(exported.tables)
  })
})
