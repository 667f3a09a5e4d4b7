/** `svc db`: an installation is backed up, restored, moved and migrated by command, and nothing is lost by a mistake. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockFolder } from '../../src/platform/folder-lock.ts'
import { cidOf } from '../../src/storage/cid.ts'
import { earlier } from '../store/databases.ts'
import { LATER, RELEASED } from '../store/later-migration.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { describeOnSqliteAlone, onPostgres } from '../support/database.ts'
import { type CommandLine, commandLine, type Ran } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const server = await startPostgres()
const pg = 'missing' in server ? undefined : server
afterAll(async () => pg?.stop())

/** Of the bytes `image`. */
let CID = ''
const at = (...parts: string[]) => join(cli.home, ...parts)
const mode = (path: string) => statSync(path).mode & 0o777
const json = (ran: Ran) => JSON.parse(ran.stdout)

async function namesOf(dataDir: string, env: Record<string, string> = {}): Promise<string[]> {
  const ran = await svc(['keys', 'list', '--json', '--all', '--data-dir', dataDir], { env })
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 })
  return json(ran).map(({ name }: { name: string }) => name)
}

const makeKey = async (name: string, dataDir = cli.dataDir) =>
  expect(await svc(['keys', 'create', '--name', name, '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })

async function expectRefused(args: string[], exitCode: number, why: RegExp, env: Record<string, string> = {}) {
  const ran = await svc(args, { env })
  expect({ exitCode: ran.exitCode, stdout: ran.stdout }, ran.stderr).toEqual({ exitCode, stdout: '' })
  expect(ran.stderr).toMatch(why)
  expect(ran.stderr).not.toMatch(/^\s+at |not expected/m)
}

/** A backup with everything, of an installation with the key `kept`. */
beforeAll(async () => {
  if (onPostgres) return
  CID = await cidOf(Buffer.from('image'))
  await makeKey('kept')
  mkdirSync(join(cli.dataDir, 'assets'), { mode: 0o700 })
  writeFileSync(join(cli.dataDir, 'assets', CID), 'image', { mode: 0o600 })
  writeFileSync(join(cli.dataDir, 'assets', 'unfinished.1234'), 'half')
  expect(await svc(['db', 'backup', 'whole', '--include', 'all'])).toMatchObject({ exitCode: 0 })
})

describeOnSqliteAlone('svc db backup', 'it copies files', () => {
  it('copies the database alone unless more is named, and says what that is worth', async () => {
    const { exitCode, stdout, stderr } = await svc(['db', 'backup', 'alone'])
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^Backed up to \S+\/alone: 1 file, \d+\.\d KiB\.\n$/),
    })
    expect(stderr).toMatch(/Without encryption-key: no command can open the database/)
    expect(stderr).toMatch(/Without assets: tokens lose their images/)
    expect(readdirSync(at('alone')).sort()).toEqual(['backup.json', 'svc.db'])
    expect(readdirSync(at('whole')).sort()).toEqual([
      'assets',
      'backup.json',
      'encryption.key',
      'operator.key',
      'svc.db',
    ])
    expect(readdirSync(at('whole', 'assets'))).toEqual([CID])
    expect([at('whole'), at('whole', 'assets')].map(mode)).toEqual([0o700, 0o700])
    for (const name of ['backup.json', 'svc.db', 'encryption.key', 'operator.key'])
      expect(mode(at('whole', name))).toBe(0o600)
  })

  it('never replaces what is there without --force, and never what is no backup', async () => {
    mkdirSync(at('pictures'))
    writeFileSync(at('pictures', 'cat.png'), 'cat')
    await expectRefused(['db', 'backup', 'whole'], 2, /whole already exists: replace that backup with --force/)
    await expectRefused(['db', 'backup', 'pictures', '--force'], 2, /pictures already exists, and is not a backup/)
    await expectRefused(['db', 'backup', 'no/where'], 2, /no does not exist/)
    expect(readFileSync(at('pictures', 'cat.png'), 'utf8')).toBe('cat')
    const { exitCode, stdout } = await svc([
      'db',
      'backup',
      'alone',
      '--include',
      'encryption-key',
      '--force',
      '-o',
      'json',
    ])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      included: ['encryption-key'],
      left_out: ['operator-key', 'assets'],
      files: 2,
    })
    expect(readdirSync(cli.home).filter((name) => /partial|replaced/.test(name))).toEqual([])
  })

  it('removes nothing that is of no backup, beside it or in it', async () => {
    for (const folder of ['kept.partial', 'kept.replaced']) {
      mkdirSync(at(folder))
      writeFileSync(join(at(folder), 'notes.txt'), 'mine')
      await expectRefused(
        ['db', 'backup', 'kept'],
        2,
        new RegExp(`${folder} contains notes\\.txt, which is not part of a backup`),
      )
      expect(readFileSync(join(at(folder), 'notes.txt'), 'utf8')).toBe('mine')
      rmSync(at(folder), { recursive: true })
    }
    await svc(['db', 'backup', 'kept'])
    writeFileSync(join(at('kept'), 'notes.txt'), 'mine')
    await expectRefused(['db', 'backup', 'kept', '--force'], 2, /kept contains notes\.txt/)
    expect(readdirSync(at('kept'))).toContain('notes.txt')
  })

  it('is no backup of a chain where the file holds none', async () => {
    const folder = at('no-chain')
    cpSync(cli.dataDir, folder, { recursive: true })
    const chain = new Database(join(folder, 'chain.db'))
    chain.exec('create table other (x)')
    chain.close()
    await expectRefused(
      ['db', 'backup', 'chained', '--include', 'chain', '--data-dir', folder],
      1,
      /is not an embedded chain/,
    )
    expect(existsSync(at('chained'))).toBe(false)
  })

  it('refuses parts that there are not', async () => {
    await expectRefused(['db', 'backup', 'x', '--include', 'keys'], 2, /--include has no part "keys": encryption-key, /)
    const key = readFileSync(join(cli.dataDir, 'encryption.key'), 'utf8').trim()
    await expectRefused(
      ['db', 'backup', 'x', '--include', 'encryption-key'],
      2,
      /has no encryption\.key to include .*\n {2}next: if it is in SVC_ENCRYPTION_KEY, store that elsewhere/,
      { SVC_ENCRYPTION_KEY: key },
    )
    const { exitCode, stderr } = await svc(['db', 'backup', 'chainless', '--include', 'chain,assets'])
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('There is no chain here yet.'),
    })
    await expectRefused(['db', 'backup', 'x', '--data-dir', 'empty'], 3, /there is no database in \S+empty/)
  })

  it('does not copy a damaged database, nor a key that does not open it', async () => {
    const folder = at('damaged')
    cpSync(cli.dataDir, folder, { recursive: true })
    const bytes = readFileSync(join(folder, 'svc.db'))
    bytes.fill(0xff, 8192, 12288)
    writeFileSync(join(folder, 'svc.db'), bytes)
    await expectRefused(['db', 'backup', 'x', '--data-dir', folder], 1, /damaged/)
    const mixed = at('mixed')
    cpSync(cli.dataDir, mixed, { recursive: true })
    writeFileSync(join(mixed, 'encryption.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
    await expectRefused(
      ['db', 'backup', 'x', '--include', 'all', '--data-dir', mixed],
      1,
      /does not open this database/,
    )
    expect(existsSync(at('x'))).toBe(false)
    expect(existsSync(at('x.partial'))).toBe(false)
  })
})

describeOnSqliteAlone('svc db restore', 'it puts files back', () => {
  it('makes the installation again in an empty folder', async () => {
    const { exitCode, stdout, stderr } = await svc(['db', 'restore', 'whole', '--data-dir', 'again'])
    expect({ exitCode, stdout }, stderr).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^Restored into \S+\/again: the database, encryption-key, operator-key, assets\.\n$/,
      ),
    })
    expect(await namesOf('again')).toEqual(['kept', 'local operator'])
    expect(readdirSync(at('again', 'assets'))).toEqual([CID])
    expect(await svc(['audit', 'verify', '--data-dir', 'again'])).toMatchObject({ exitCode: 0 })
    expect((await svc(['doctor', '-o', 'plain', '--data-dir', 'again'])).stdout).toMatch(/^ok\tencryption key\tfits/m)
  })

  it('says which assets of the backup are damaged', async () => {
    const folder = at('bitten')
    cpSync(at('whole'), folder, { recursive: true })
    writeFileSync(join(folder, 'assets', CID), 'imago')
    const { exitCode, stderr } = await svc(['db', 'restore', folder, '--data-dir', 'assetless'])
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('assets: 1 of 1 are missing or damaged'),
    })
  })

  it('replaces an installation only with --force and a yes, and keeps the old one', async () => {
    const folder = at('used')
    expect(await svc(['db', 'restore', 'whole', '--data-dir', folder])).toMatchObject({ exitCode: 0 })
    await makeKey('later', folder)
    const restore = ['db', 'restore', 'whole', '--data-dir', folder]
    await expectRefused(
      restore,
      5,
      /already has an installation \(svc\.db, encryption\.key, operator\.key\): nothing was restored/,
    )
    await expectRefused([...restore, '--force'], 2, /confirm it with --yes/)
    expect(await namesOf(folder)).toEqual(['later', 'kept', 'local operator'])
    const data = json(await svc([...restore, '--force', '--yes', '--json']))
    expect(await namesOf(folder)).toEqual(['kept', 'local operator'])
    expect(await namesOf(data.aside)).toEqual(['later', 'kept', 'local operator'])
  })

  it('refuses a damaged index as doctor does', async () => {
    const folder = at('other-index')
    cpSync(at('again'), folder, { recursive: true })
    const raw = new Database(join(folder, 'svc.db'))
    raw.unsafeMode()
    raw.pragma('writable_schema = on')
    // The entries of the index are those of another column.
    raw.exec(
      'update sqlite_schema set sql = \'create index "audit_entries_by_action" on "audit_entries" ("request_id", "sequence")\' where name = \'audit_entries_by_action\'',
    )
    raw.close()
    const doctor = await svc(['doctor', '--data-dir', folder, '-o', 'plain'])
    expect([doctor.exitCode, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(/fail\tdatabase\t.* is damaged: .*index/),
    ])
    await expectRefused(['db', 'backup', 'of-other-index', '--data-dir', folder], 1, /is damaged/)
  })

  it('is refused while a daemon has the folder', async () => {
    const folder = at('served')
    cpSync(at('again'), folder, { recursive: true })
    const unlock = (await lockFolder(folder))!
    await expectRefused(
      ['db', 'restore', 'whole', '--force', '--yes', '--data-dir', folder],
      5,
      /a daemon runs on \S+served: nothing was restored\n {2}next: stop it/,
    )
    unlock()
  })

  it('takes the key from the folder or the environment, and nothing but the right one', async () => {
    cpSync(at('whole'), at('keyless'), { recursive: true })
    rmSync(at('keyless'), { recursive: true })
    expect(await svc(['db', 'backup', 'keyless'])).toMatchObject({ exitCode: 0 })
    const restore = ['db', 'restore', 'keyless', '--data-dir', 'elsewhere']
    const key = readFileSync(join(cli.dataDir, 'encryption.key'), 'utf8').trim()
    await expectRefused(
      restore,
      1,
      /sealed with the encryption key of fingerprint [0-9a-f]{16}, and the backup has no key/,
    )
    await expectRefused(restore, 1, /SVC_ENCRYPTION_KEY has fingerprint/, { SVC_ENCRYPTION_KEY: 'ab'.repeat(32) })
    expect(existsSync(at('elsewhere', 'svc.db'))).toBe(false)
    expect(await svc(restore, { env: { SVC_ENCRYPTION_KEY: key } })).toMatchObject({ exitCode: 0 })
    expect(await namesOf('elsewhere', { SVC_ENCRYPTION_KEY: key })).toContain('kept')

    mkdirSync(at('keyed'), { mode: 0o700 })
    writeFileSync(at('keyed', 'encryption.key'), `${key}\n`, { mode: 0o600 })
    expect(await svc(['db', 'restore', 'keyless', '--data-dir', 'keyed'])).toMatchObject({ exitCode: 0 })
    expect(await namesOf('keyed')).toContain('kept')
  })

  const spoiled: [string, (folder: string) => void, RegExp, number][] = [
    [
      'is cut off',
      (folder) => writeFileSync(join(folder, 'svc.db'), readFileSync(join(folder, 'svc.db')).subarray(0, 9000)),
      /svc\.db has changed since it was written \(9000 bytes of \d+\)/,
      1,
    ],
    [
      'has another key',
      (folder) => writeFileSync(join(folder, 'encryption.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`),
      /encryption\.key has changed since it was written/,
      1,
    ],
    [
      'lists other files',
      (folder) => list(folder, (text) => text.replace('"encryption.key"', '"../encryption.key"')),
      /backup\.json is not what svc writes/,
      2,
    ],
    ['has no list', (folder) => rmSync(join(folder, 'backup.json')), /is not a backup: it has no backup\.json/, 2],
    ['has a list that is not JSON', (folder) => list(folder, () => '{'), /is not JSON/, 2],
    [
      'is of a later format',
      (folder) => list(folder, (text) => text.replace('"svc_backup": 1', '"svc_backup": 2')),
      /has format 2/,
      2,
    ],
    ['lost a file', (folder) => rmSync(join(folder, 'operator.key')), /operator\.key: it does not exist/, 1],
  ]
  function list(folder: string, change: (text: string) => string) {
    const file = join(folder, 'backup.json')
    writeFileSync(file, change(readFileSync(file, 'utf8')))
  }
  it.each(spoiled)('refuses a backup that %s, before anything changes', async (_, spoil, why, exitCode) => {
    const folder = at('spoiled')
    rmSync(folder, { recursive: true, force: true })
    cpSync(at('whole'), folder, { recursive: true })
    spoil(folder)
    const before = readdirSync(at('again')).sort()
    await expectRefused(['db', 'restore', folder, '--force', '--yes', '--data-dir', at('again')], exitCode, why)
    expect(readdirSync(at('again')).sort()).toEqual(before)
  })

  it('refuses a backup of a later version and what is none at all', async () => {
    const later = at('later.db')
    cpSync(at('whole', 'svc.db'), later)
    const raw = new Database(later)
    raw.exec("insert into kysely_migration (name, timestamp) values ('9999-future', '')")
    raw.close()
    await expectRefused(
      ['db', 'restore', later, '--data-dir', 'z'],
      1,
      /newer than this program \(it has the migration 9999-future\)/,
    )
    await expectRefused(
      ['db', 'restore', cli.file('text', 'hello'), '--data-dir', 'z'],
      1,
      /is damaged, or no SQLite database/,
    )
    await expectRefused(['db', 'restore', 'nowhere', '--data-dir', 'z'], 3, /there is no backup \S+nowhere/)
  })

  it('takes the copy that was made before a migration', async () => {
    const folder = at('older')
    mkdirSync(folder, { mode: 0o700 })
    await earlier({ dataDir: folder })
    const dry = json(await svc(['db', 'migrate', '--dry-run', '--json', '--data-dir', folder]))
    expect(dry.pending).toEqual([LATER])
    expect(json(await svc(['db', 'status', '--json', '--data-dir', folder])).pending).toEqual(dry.pending)
    const migrated = json(await svc(['db', 'migrate', '--json', '--data-dir', folder]))
    expect(migrated).toMatchObject({ pending: [], copy: expect.stringContaining('before-migration') })
    expect((await svc(['db', 'migrate', '--data-dir', folder])).stdout).toMatch(/^Nothing is pending: the schema is /)
    const back = json(await svc(['db', 'restore', migrated.copy, '--force', '--yes', '--json', '--data-dir', folder]))
    expect(back.schema).toBe(RELEASED)
    expect(json(await svc(['db', 'status', '--json', '--data-dir', folder])).pending).toEqual(dry.pending)
  })
})

describe.skipIf(pg === undefined)('an empty PostgreSQL database', () => {
  it('has every migration pending until they are applied', async () => {
    const env = { SVC_DATABASE_URL: await pg!.createDatabase(), SVC_ENCRYPTION_KEY: 'ab'.repeat(32) }
    const before = json(await svc(['db', 'status', '--json'], { env }))
    expect(before).toMatchObject({ applied: [], faults: [], fingerprint: null, database: 'postgres', wal_bytes: null })
    expect(json(await svc(['db', 'migrate', '--dry-run', '--json'], { env })).pending).toEqual(before.pending)
    expect(json(await svc(['db', 'migrate', '--json'], { env }))).toMatchObject({ applied: before.pending, copy: null })
    expect(json(await svc(['db', 'status', '--json'], { env })).pending).toEqual([])
  })
})

describeOnSqliteAlone('svc db status', 'it measures files', () => {
  it('shows place, schema and what grows, and makes nothing', async () => {
    const { exitCode, stdout } = await svc(['db', 'status'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^api_keys +2 +\d+\.\d KiB/m)
    expect(stdout).toMatch(/^events +0 .*changes of resources$/m)
    expect(stdout).toMatch(/^PENDING +nothing$/m)
    expect(stdout.split('\n').every((line) => line.length <= 80 || line.startsWith('PLACE'))).toBe(true)
    expect((await svc(['db', 'status', '--data-dir', 'untouched'])).stdout).toMatch(/^STATE +made on first use$/m)
    expect(existsSync(at('untouched'))).toBe(false)
  })

  it('fails where the schema is not as its migrations leave it', async () => {
    const folder = at('bent')
    cpSync(cli.dataDir, folder, { recursive: true })
    const raw = new Database(join(folder, 'svc.db'))
    raw.exec('drop table tickers')
    raw.close()
    const ran = await svc(['db', 'status', '--data-dir', folder])
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('tickers is missing') })
  })
})

describeOnSqliteAlone('svc db export and import', 'the way to PostgreSQL and back begins there', () => {
  const keyOf = ({ dataDir }: CommandLine) => readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim()

  it.skipIf(pg === undefined)('moves an installation to PostgreSQL and back', async () => {
    const SVC_DATABASE_URL = await pg!.createDatabase()
    const env = { SVC_DATABASE_URL, SVC_ENCRYPTION_KEY: keyOf(cli), SVC_DATA_DIR: at('onpg') }
    expect(await svc(['db', 'export', 'out.jsonl'])).toMatchObject({ exitCode: 0 })
    expect(mode(at('out.jsonl'))).toBe(0o600)
    await expectRefused(['db', 'export', 'out.jsonl'], 2, /out\.jsonl already exists: replace it with --force/)
    const imported = await svc(['db', 'import', 'out.jsonl', '--json'], { env })
    expect(imported, imported.stderr).toMatchObject({ exitCode: 0 })
    expect(imported.stdout + imported.stderr).not.toContain(pg!.password)
    // The data folder's operator key is another one here.
    const ran = await svc(['keys', 'list', '--json'], { env })
    expect(json(ran).map(({ name }: { name: string }) => name)).toEqual(['local operator', 'kept', 'local operator'])
    expect(await svc(['audit', 'verify'], { env })).toMatchObject({ exitCode: 0 })
    const status = await svc(['db', 'status'], { env })
    expect(status.stdout).toMatch(/^DATABASE +postgres$/m)
    expect(status.stdout).not.toContain(pg!.password)
    await expectRefused(['db', 'import', 'out.jsonl'], 5, /the database is not empty/, env)

    expect(await svc(['db', 'export', 'back.jsonl'], { env })).toMatchObject({ exitCode: 0 })
    const home = { SVC_ENCRYPTION_KEY: keyOf(cli) }
    expect(await svc(['db', 'import', 'back.jsonl', '--data-dir', 'home'], { env: home })).toMatchObject({
      exitCode: 0,
    })
    expect(await namesOf('home', home)).toEqual(['local operator', 'local operator', 'kept', 'local operator'])
  })

  it('names the key that is missing or another one, before anything is made', async () => {
    expect(await svc(['db', 'export', 'keyed.jsonl'])).toMatchObject({ exitCode: 0 })
    const args = ['db', 'import', 'keyed.jsonl', '--data-dir', 'fresh']
    await expectRefused(
      args,
      1,
      /sealed with the encryption key of fingerprint [0-9a-f]{16}, and no key is configured here/,
    )
    await expectRefused(args, 1, /the key configured here has fingerprint/, { SVC_ENCRYPTION_KEY: 'ab'.repeat(32) })
    expect(existsSync(at('fresh'))).toBe(false)
    await expectRefused(
      ['db', 'import', cli.file('list.csv', 'a,1\n'), '--data-dir', 'fresh'],
      2,
      /the file is no export/,
    )
    await expectRefused(
      ['db', 'import', 'nothing.jsonl', '--data-dir', 'fresh'],
      1,
      /nothing\.jsonl: it does not exist/,
    )
    const text = readFileSync(at('keyed.jsonl'), 'utf8')
    const cut = cli.file('cut.jsonl', text.slice(0, -40), 0o600)
    await expectRefused(['db', 'import', cut, '--data-dir', 'fresh'], 2, /export/, { SVC_ENCRYPTION_KEY: keyOf(cli) })
  })

  it('tell an export from a backup', async () => {
    expect(await svc(['db', 'export', 'rows.jsonl'])).toMatchObject({ exitCode: 0 })
    await expectRefused(
      ['db', 'restore', 'rows.jsonl', '--data-dir', 'z'],
      2,
      /rows\.jsonl is an export\n {2}next: svc db import/,
    )
    await expectRefused(
      ['db', 'import', 'whole', '--data-dir', 'z'],
      2,
      /whole is a backup\n {2}next: svc db restore whole/,
    )
  })

  it.skipIf(pg === undefined)('leave PostgreSQL its own backup, and says the commands', async () => {
    const env = { SVC_DATABASE_URL: await pg!.createMigratedDatabase(), SVC_ENCRYPTION_KEY: 'ab'.repeat(32) }
    await expectRefused(
      ['db', 'backup', 'x'],
      2,
      /pg_dump --format=custom --file=FILE "\$SVC_DATABASE_URL"; or `svc db export FILE`/,
      env,
    )
    await expectRefused(
      ['db', 'restore', 'whole'],
      2,
      /pg_restore --clean --if-exists --no-owner --dbname="\$SVC_DATABASE_URL"/,
      env,
    )
  })
})
