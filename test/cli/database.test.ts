/** `svc db`: an installation is backed up, restored, moved and migrated by command, and nothing is lost by a mistake. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, it } from 'vitest'
import { sealFolder } from '../../commands/machine/database/sealed-backup.ts'
import { lockFolder } from '../../src/platform/folder-lock.ts'
import { cidOf } from '../../src/storage/cid.ts'
import { earlier } from '../store/databases.ts'
import { LATER, RELEASED } from '../store/later-migration.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { describeOnSqliteAlone, onPostgres } from '../support/database.ts'
import { itInSoak } from '../support/runs.ts'
import { type CommandLine, commandLine, onTerminal, type Ran } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const server = await startPostgres()
const pg = 'missing' in server ? undefined : server

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
  it('copies only the database unless more is named, and says what is then missing', async () => {
    const { exitCode, stdout, stderr } = await svc(['db', 'backup', 'alone'])
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^Backed up to \S+\/alone: 1 file, \d+\.\d [KM]iB\.\n$/),
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

  it('records in the database how it has ended', async () => {
    const recorded = () => {
      const database = new Database(at('data', 'svc.db'), { readonly: true })
      const row = database.prepare("select value from settings where name = 'last-backup'").get() as { value: string }
      database.close()
      return JSON.parse(row.value) as { made_at: number; failed_at: number | null; error: string | null }
    }
    expect(await svc(['db', 'backup', 'recorded'])).toMatchObject({ exitCode: 0 })
    const { made_at, failed_at } = recorded()
    expect([typeof made_at, failed_at]).toEqual(['number', null])
    const signer = ['--include', 'signer-key']
    expect((await svc(['db', 'backup', 'unrecorded', ...signer])).exitCode).toBe(2)
    expect(recorded()).toMatchObject({ made_at, error: expect.stringMatching(/only into a sealed backup/) })
    expect((await svc(['db', 'backup', 'unmounted/disk'])).exitCode).toBe(2)
    expect(recorded()).toMatchObject({ made_at, error: expect.stringMatching(/unmounted does not exist/) })
    expect(await svc(['db', 'backup', 'recorded', '--force'])).toMatchObject({ exitCode: 0 })
    const after = recorded()
    expect(after.made_at).toBeGreaterThanOrEqual(after.failed_at ?? Number.MAX_SAFE_INTEGER)
  })

  it('replaces an existing backup only with --force, and nothing else ever', async () => {
    mkdirSync(at('pictures'))
    writeFileSync(at('pictures', 'cat.png'), 'cat')
    await expectRefused(['db', 'backup', 'whole'], 2, /whole already exists: replace that backup with --force/)
    await expectRefused(['db', 'backup', 'pictures', '--force'], 2, /pictures already exists, and is not a backup/)
    await expectRefused(['db', 'backup', 'no/where'], 2, /no does not exist/)
    expect(readFileSync(at('pictures', 'cat.png'), 'utf8')).toBe('cat')
    const { exitCode, stdout } = await svc([
      ...['db', 'backup', 'alone', '--include', 'encryption-key', '--force', '-o', 'json'],
    ])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      included: ['encryption-key'],
      left_out: ['operator-key', 'assets'],
      files: 2,
    })
    expect(readdirSync(cli.home).filter((name) => /partial|replaced/.test(name))).toEqual([])
  })

  it('removes no file that does not belong to a backup', async () => {
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

  it('refuses a chain.db that is not an embedded chain', async () => {
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

  it('refuses parts that do not exist', async () => {
    await expectRefused(['db', 'backup', 'x', '--include', 'keys'], 2, /--include has no part "keys": encryption-key, /)
    const key = readFileSync(join(cli.dataDir, 'encryption.key'), 'utf8').trim()
    await expectRefused(
      ['db', 'backup', 'x', '--include', 'encryption-key'],
      2,
      /has no encryption\.key to include .*\n {2}next: it is in SVC_ENCRYPTION_KEY: seal the backup with --passphrase-file FILE, or/,
      { SVC_ENCRYPTION_KEY: key },
    )
    const { exitCode, stderr } = await svc(['db', 'backup', 'chainless', '--include', 'chain,assets'])
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('There is no chain here yet.'),
    })
    await expectRefused(['db', 'backup', 'x', '--data-dir', 'empty'], 3, /there is no database in \S+empty/)
  })

  it('refuses a damaged database, and a key that does not open it', async () => {
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
  it('restores the installation into an empty folder', async () => {
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

  it('replaces an installation only with --force and a yes, and moves the old one aside', async () => {
    const folder = at('used')
    expect(await svc(['db', 'restore', 'whole', '--data-dir', folder])).toMatchObject({ exitCode: 0 })
    await makeKey('later', folder)
    const restore = ['db', 'restore', 'whole', '--data-dir', folder]
    await expectRefused(
      restore,
      5,
      /already has an installation \(svc\.db, encryption\.key, operator\.key\): nothing was restored/,
    )
    await expectRefused([...restore, '--force'], 2, /needs a confirmation: add --yes/)
    expect(await namesOf(folder)).toEqual(['later', 'kept', 'local operator'])
    const data = json(await svc([...restore, '--force', '--yes', '--json']))
    expect(await namesOf(folder)).toEqual(['kept', 'local operator'])
    expect(await namesOf(data.aside)).toEqual(['later', 'kept', 'local operator'])
  })

  it('has a damaged index reported by svc doctor and svc db backup', async () => {
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

  it('is refused while a daemon uses the folder', async () => {
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

  it('takes the matching encryption key from the folder or the environment, and refuses any other', async () => {
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
  it.each(spoiled)('refuses a backup that %s before anything changes', async (_, spoil, why, exitCode) => {
    const folder = at('spoiled')
    rmSync(folder, { recursive: true, force: true })
    cpSync(at('whole'), folder, { recursive: true })
    spoil(folder)
    const before = readdirSync(at('again')).sort()
    await expectRefused(['db', 'restore', folder, '--force', '--yes', '--data-dir', at('again')], exitCode, why)
    expect(readdirSync(at('again')).sort()).toEqual(before)
  })

  it('refuses a backup of a later version, and a file that is not a backup', async () => {
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
      /is damaged, or not a SQLite database/,
    )
    await expectRefused(['db', 'restore', 'nowhere', '--data-dir', 'z'], 3, /there is no backup \S+nowhere/)
  })

  it('accepts the copy that was made before a migration', async () => {
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

describeOnSqliteAlone('A sealed backup', 'it copies files', () => {
  const PASSPHRASE = 'correct horse battery'
  const MIB = 1024 * 1024
  const TAG = 16
  const env: Record<string, string> = {}
  let sealed = ''
  let passphraseFile: string[] = []
  let signer = { address: '', file: '' }
  let wallet = ''
  const restore = (file: string, folder: string, ...more: string[]) => [
    ...['db', 'restore', file, '--data-dir', at(folder), ...passphraseFile, ...more],
  ]
  /** The environment of a user who has nothing yet. */
  const fresh = (name: string) => ({ HOME: at(name) })

  beforeAll(async () => {
    passphraseFile = ['--passphrase-file', cli.file('passphrase', PASSPHRASE, 0o600)]
    signer = cli.keypair('platform.json')
    Object.assign(env, fresh('owner'))
    const settings = [
      ['signer', 'keypair'],
      ['signer.keypair', signer.file],
    ]
    for (const [name, value] of settings) await svc(['config', 'set', name!, value!], { env })
    const own = { ...env, SVC_WALLET_PASSPHRASE_FILE: at('passphrase') }
    wallet = json(await svc(['wallet', 'new', 'mine', '--json'], { env: own })).address
    // Several chunks.
    const image = Buffer.alloc(2.5 * MIB, 'pixel')
    writeFileSync(join(cli.dataDir, 'assets', await cidOf(image)), image, { mode: 0o600 })
    sealed = at('sealed')
    const made = await svc(['db', 'backup', 'sealed', ...passphraseFile, '--json'], { env })
    expect(made, made.stderr).toMatchObject({ exitCode: 0 })
    expect(json(made)).toMatchObject({
      sealed: true,
      included: ['encryption-key', 'operator-key', 'signer-key', 'assets', 'profiles', 'wallets'],
      left_out: [],
    })
  })

  it('is one file without a word of what it has, and leaves nothing else', () => {
    expect(mode(sealed)).toBe(0o600)
    const bytes = readFileSync(sealed)
    for (const word of ['SQLite format', 'signer.keypair', readFileSync(join(cli.dataDir, 'operator.key'), 'utf8')])
      expect(bytes.includes(word)).toBe(false)
    expect(readdirSync(cli.dataDir).filter((name) => /partial/.test(name))).toEqual([])
    expect(readdirSync(cli.home).filter((name) => /partial|replaced/.test(name))).toEqual([])
  })

  it('gives an empty home the same records, keys and wallets, and its platform wallet signs', async () => {
    const other = { env: fresh('other') }
    const ran = await svc(restore('sealed', 'unsealed'), other)
    expect(ran, ran.stderr).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /the database, encryption-key, operator-key, signer-key, assets, profiles, wallets/,
      ),
      stderr: expect.stringContaining(`Start it: svc serve --data-dir ${at('unsealed')}`),
    })
    const here = (...args: string[]) => svc([...args, '--json', '--data-dir', at('unsealed')], other)
    expect(json(await here('keys', 'list', '--all')).map(({ name }: { name: string }) => name)).toEqual([
      'kept',
      'local operator',
    ])
    for (const name of ['encryption.key', 'operator.key'])
      expect(readFileSync(at('unsealed', name))).toEqual(readFileSync(join(cli.dataDir, name)))
    expect(json(await here('config', 'get', 'signer.keypair')).value).toBe(at('unsealed', 'signer.json'))
    const tested = await here('signer', 'test')
    expect(tested, tested.stderr).toMatchObject({ exitCode: 0 })
    expect(tested.stdout).toContain(signer.address)
    expect(json(await here('wallet', 'list'))).toMatchObject([{ name: 'mine', address: wallet }])
    expect(await here('audit', 'verify')).toMatchObject({ exitCode: 0 })
    expect(readdirSync(at('unsealed', 'assets'))).toHaveLength(2)
    expect(readdirSync(at('unsealed')).filter((name) => name.startsWith('.restore'))).toEqual([])
  })

  itInSoak('is made by Enter and a passphrase on a terminal, and opened by that passphrase', async () => {
    const { exitCode, screen } = await onTerminal(
      { ...cli, env: { ...cli.env, ...env } },
      ['db', 'backup', 'asked'],
      [
        ['Only the database, without', '\r'],
        ['Passphrase for this backup', `${PASSPHRASE}\r`],
        ['Repeat the passphrase', `${PASSPHRASE}\r`],
      ],
    )
    expect({ exitCode, screen }).toEqual({ exitCode: 0, screen: expect.stringContaining('sealed.') })
    expect(mode(at('asked'))).toBe(0o600)
    const restored = await onTerminal(
      { ...cli, env: { ...cli.env, ...fresh('terminal') } },
      ['db', 'restore', 'asked', '--data-dir', 'from-asked'],
      [['Passphrase of the backup', `${PASSPHRASE}\r`]],
    )
    expect(restored).toEqual({ exitCode: 0, screen: expect.stringContaining('Restored into') })
    expect(await namesOf('from-asked')).toEqual(['kept', 'local operator'])
  })

  itInSoak('has the encryption key of SVC_ENCRYPTION_KEY', async () => {
    const key = readFileSync(join(cli.dataDir, 'encryption.key'), 'utf8').trim()
    const made = await svc(['db', 'backup', 'of-variable', ...passphraseFile], { env: { SVC_ENCRYPTION_KEY: key } })
    expect(made, made.stderr).toMatchObject({ exitCode: 0 })
    const restored = await svc(restore('of-variable', 'without-variable'), { env: fresh('variable') })
    expect(restored, restored.stderr).toMatchObject({ exitCode: 0 })
    expect(await namesOf('without-variable')).toEqual(['kept', 'local operator'])
  })

  itInSoak('replaces only an earlier backup, and only with --force', async () => {
    cpSync(sealed, at('earlier'))
    await expectRefused(
      ['db', 'backup', 'earlier', ...passphraseFile],
      2,
      /earlier already exists: replace that backup/,
    )
    expect(await svc(['db', 'backup', 'earlier', ...passphraseFile, '--force'])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(at('earlier')).equals(readFileSync(sealed))).toBe(false)
    const letter = cli.file('letter', 'dear')
    await expectRefused(
      ['db', 'backup', 'letter', ...passphraseFile, '--force'],
      2,
      /letter already exists, and is not/,
    )
    cli.file('answer.partial', 'dear')
    await expectRefused(['db', 'backup', 'answer', ...passphraseFile], 2, /answer\.partial exists, and is not part/)
    expect(readFileSync(letter, 'utf8')).toBe('dear')
  })

  itInSoak('is the only one that has the key of the platform wallet', async () => {
    await expectRefused(
      ['db', 'backup', 'clear', '--include', 'signer-key'],
      2,
      /only into a sealed backup \(--include\)\n {2}next: seal the backup with --passphrase-file FILE/,
      env,
    )
    const { stderr } = await svc(['db', 'backup', 'clear', '--include', 'all'], { env })
    expect(stderr).toMatch(/Without signer-key: the platform wallet cannot sign/)
    expect(readdirSync(at('clear'))).toEqual(expect.not.arrayContaining(['signer.json']))
    expect(readdirSync(at('clear', 'wallets'))).toEqual(['mine.json'])
    const lost = { ...env, SVC_SIGNER_KEYPAIR: at('lost.json') }
    const made = await svc(['db', 'backup', 'signerless', ...passphraseFile], { env: lost })
    expect(made.stderr).toMatch(
      /Not in this backup: the platform wallet's key: \S+lost\.json \(signer\.keypair\) does not/,
    )
  })

  itInSoak('leaves the settings of a user who has some, and names the command for the platform wallet', async () => {
    const settled = { env: fresh('settled') }
    await svc(['config', 'set', 'output', 'json'], settled)
    const { exitCode, stderr } = await svc(restore('sealed', 'beside-settings', '-o', 'table'), settled)
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(/profiles\.json already exists; compare them/),
    })
    expect(stderr).toContain(`svc config set signer.keypair ${at('beside-settings', 'signer.json')}`)
  })

  it('demands its passphrase, and an installation is refused before that is read', async () => {
    await expectRefused(
      ['db', 'restore', 'sealed', '--data-dir', 'unwritten'],
      2,
      /a passphrase is needed, and there is no terminal to ask on\n {2}next: name a file \(0600\) with it: --passphrase-file/,
    )
    await expectRefused(
      ['db', 'restore', 'sealed', '--data-dir', cli.dataDir, '--passphrase-file', 'none'],
      5,
      /data already has an installation \(svc\.db\): nothing was restored/,
    )
    await expectRefused(restore('whole', 'unwritten'), 2, /whole is not sealed, so it has no passphrase/)
    const short = cli.file('short', 'seven77', 0o600)
    await expectRefused(['db', 'backup', 'x', '--passphrase-file', short], 2, /--passphrase-file has fewer than 8/)
    await expectRefused(['db', 'backup', 'x', '--passphrase-file', 'none'], 2, /--passphrase-file names \S+none, which/)
    expect(existsSync(at('unwritten'))).toBe(false)
  })

  /** The length of the first line. */
  const head = (bytes: Buffer) => bytes.indexOf('\n') + 1
  const flipped = (bytes: Buffer, place: number) => {
    const other = Buffer.from(bytes)
    other[place]! ^= 1
    return other
  }
  const CUT = /was cut off or changed since it was written\n {2}next: use another backup; nothing was changed here/
  const WRONG = /does not open: the passphrase is wrong, or its first line was changed/
  const spoiled: [string, (bytes: Buffer) => Buffer, RegExp][] = [
    ['whose first line was changed', (bytes) => flipped(bytes, bytes.indexOf('"created_at"') + 15), WRONG],
    ['whose first line is cut', (bytes) => bytes.subarray(0, 100), CUT],
    ['with nothing behind the first line', (bytes) => bytes.subarray(0, head(bytes)), CUT],
    ['of which one bit was flipped', (bytes) => flipped(bytes, bytes.length - TAG - 1), CUT],
    ['that was cut', (bytes) => bytes.subarray(0, -1), CUT],
    ['that was cut between chunks', (bytes) => bytes.subarray(0, head(bytes) + MIB + TAG), CUT],
    ['with something behind its end', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), CUT],
    [
      'whose chunks were exchanged',
      (bytes) => {
        const [start, size] = [head(bytes), MIB + TAG]
        const part = (n: number) => bytes.subarray(start + n * size, start + (n + 1) * size)
        return Buffer.concat([bytes.subarray(0, start), part(1), part(0), bytes.subarray(start + 2 * size)])
      },
      CUT,
    ],
    [
      'of a later format',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('backup":1,', 'backup":2,'), 'latin1'),
      /has format 2, and this program reads 1/,
    ],
  ]
  /** A sealed backup whose passphrase is quick to check. */
  const quick = async () => {
    const file = at('quick')
    if (existsSync(file)) return file
    mkdirSync(at('large'))
    writeFileSync(at('large', 'backup.json'), readFileSync(at('whole', 'backup.json')))
    writeFileSync(at('large', 'svc.db'), Buffer.alloc(2.5 * MIB))
    await sealFolder(at('large'), file, { passphrase: PASSPHRASE, onProgress: () => {}, cost: 2 ** 14 })
    return file
  }
  it.each(spoiled)('%s is refused before anything is written', async (_, spoil, why) => {
    writeFileSync(at('spoiled-file'), spoil(readFileSync(await quick())))
    const ran = await svc(restore('spoiled-file', 'never'))
    expect([ran.exitCode, ran.stdout]).toEqual([expect.any(Number), ''])
    expect(ran.exitCode).not.toBe(0)
    expect(ran.stderr).toMatch(why)
    expect(existsSync(at('never'))).toBe(false)
  })

  it('says that a passphrase is wrong before anything is written', async () => {
    const file = cli.file('wrong', 'another passphrase', 0o600)
    const args = ['db', 'restore', 'sealed', '--data-dir', 'never', '--passphrase-file', file]
    await expectRefused(args, 4, WRONG)
    expect(existsSync(at('never'))).toBe(false)
  })
})

describe.skipIf(pg === undefined)('An empty PostgreSQL database', () => {
  it('has every migration pending until svc db migrate', async () => {
    const env = { SVC_DATABASE_URL: await pg!.createDatabase(), SVC_ENCRYPTION_KEY: 'ab'.repeat(32) }
    const before = json(await svc(['db', 'status', '--json'], { env }))
    expect(before).toMatchObject({ applied: [], faults: [], fingerprint: null, database: 'postgres', wal_bytes: null })
    expect(json(await svc(['db', 'migrate', '--dry-run', '--json'], { env })).pending).toEqual(before.pending)
    expect(json(await svc(['db', 'migrate', '--json'], { env }))).toMatchObject({ applied: before.pending, copy: null })
    expect(json(await svc(['db', 'status', '--json'], { env })).pending).toEqual([])
  })
})

describeOnSqliteAlone('svc db status', 'it measures files', () => {
  it('shows the place, the schema and what grows, and creates nothing', async () => {
    const { exitCode, stdout } = await svc(['db', 'status'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^api_keys +2 +\d+\.\d KiB/m)
    expect(stdout).toMatch(/^events +0 .*changes of resources$/m)
    expect(stdout).toMatch(/^PENDING +nothing$/m)
    expect(stdout.split('\n').every((line) => line.length <= 80 || line.startsWith('PLACE'))).toBe(true)
    expect((await svc(['db', 'status', '--data-dir', 'untouched'])).stdout).toMatch(/^STATE +made on first use$/m)
    expect(existsSync(at('untouched'))).toBe(false)
  })

  it('fails if the schema differs from its migrations', async () => {
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

  it.skipIf(pg === undefined)('move an installation to PostgreSQL and back', async () => {
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

  it('name a missing or a wrong encryption key before anything is created', async () => {
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
      /the file is not an export/,
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

  it('distinguish an export from a backup', async () => {
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

  it.skipIf(pg === undefined)('name the commands of PostgreSQL for its own backup', async () => {
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
