/** A database behind PgBouncer: svc keeps its sessions, or does not start and leaves nothing in those of others. */
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { diagnose } from '../../commands/machine/doctor/index.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { openStore } from '../../src/store/open.ts'
import { probeWrite } from '../../src/store/settings.ts'
import { withWhole } from '../../src/store/transfer/with-whole.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { hasPgbouncer, throughPgbouncer } from '../support/pgbouncer.ts'
import { temporaryFolder } from '../support/service.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : hasPgbouncer ? '' : 'PgBouncer is not installed'
const databases = 'missing' in server ? undefined : server

const WAY_OUT = /shares sessions between clients .*the URL of PostgreSQL itself, or set pool_mode = session/

describe.skipIf(missing !== '')(`a database behind PgBouncer${missing === '' ? '' : ` (${missing})`}`, () => {
  it.each(['transaction', 'statement'] as const)('in %s mode is refused with the setting to change', async (mode) => {
    for (const make of [databases!.createDatabase, databases!.createMigratedDatabase]) {
      const url = await throughPgbouncer(await make(), mode)
      await expect(openStore({ dataDir: temporaryFolder(), databaseUrl: url })).rejects.toThrow(WAY_OUT)
    }
  })

  it('in transaction mode is refused by commands that read or fill a whole database', async () => {
    const databaseUrl = await throughPgbouncer(await databases!.createMigratedDatabase(), 'transaction')
    const whole = withWhole({ dataDir: temporaryFolder(), databaseUrl }, 'read', async () => undefined)
    await expect(whole).rejects.toThrow(WAY_OUT)
  })

  it('in transaction mode leaves nothing of svc in the sessions of other clients', async () => {
    const direct = await databases!.createMigratedDatabase()
    const url = await throughPgbouncer(direct, 'transaction')
    const others = await Promise.all(Array.from({ length: 12 }, () => client(url)))
    // Each has had a session of its own, which the pooler keeps for whoever comes next.
    await Promise.all(others.map((one) => one.query('begin; select pg_sleep(0.05); commit')))
    await others[0]!.query('create table foreign_rows (n integer)')
    await expect(openStore({ dataDir: temporaryFolder(), databaseUrl: url })).rejects.toThrow(WAY_OUT)
    await Promise.all(
      others.map((one, n) => one.query(`begin; insert into foreign_rows values (${n}); select pg_sleep(0.05); commit`)),
    )
    const settings = await Promise.all(
      others.map(async (one) => {
        const names = ['default_transaction_read_only', 'statement_timeout', 'lock_timeout', 'application_name']
        const list = names.map((name) => `current_setting('${name}') as ${name}`).join(', ')
        return (await one.query(`select ${list}`)).rows[0]
      }),
    )
    expect(
      settings.filter((row) => row.default_transaction_read_only !== 'off' || row.statement_timeout !== '0'),
    ).toEqual([])
    expect(settings.filter((row) => row.lock_timeout !== '0')).toEqual([])
  })

  it('in session mode is migrated, read and written, and wakes the workers of other daemons', async () => {
    const databaseUrl = await throughPgbouncer(await databases!.createDatabase(), 'session')
    const [one, other] = await Promise.all([1, 2].map(() => openStore({ dataDir: temporaryFolder(), databaseUrl })))
    onTestFinished(() => Promise.all([one!.close(), other!.close()]).then(() => undefined))
    await one!.write(probeWrite)
    await other!.ping()
    const heard = new Promise((settle) => {
      const log = { debug() {}, info() {}, warn() {}, error() {} }
      void other!.wakeups
        .listen((worker) => worker === 'webhook-delivery' && settle(worker), log as never)
        .then(() => one!.wakeups.send('webhook-delivery'))
    })
    expect(await heard).toBe('webhook-delivery')
  })

  it('in transaction mode is reported by `svc doctor`', async () => {
    const url = await throughPgbouncer(await databases!.createMigratedDatabase(), 'transaction')
    const dataDir = temporaryFolder()
    const env = { HOME: dataDir, SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: url, SVC_URL: 'http://127.0.0.1:1' }
    const checks = await diagnose(async () => loadConfig({ env, cwd: dataDir }))
    expect(checks.find(({ check }) => check === 'database')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(WAY_OUT),
    })
  })
})

describe.skipIf(databases === undefined)('a role with default_transaction_read_only', () => {
  it('can still migrate and write', async () => {
    const url = await databases!.createDatabase()
    const admin = await client(url)
    await admin.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
    const store = await openStore({ dataDir: temporaryFolder(), databaseUrl: url })
    onTestFinished(() => store.close())
    await store.write(probeWrite)
  })
})

async function client(url: string): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: url })
  made.on('error', () => {})
  await made.connect()
  onTestFinished(() => made.end().catch(() => {}))
  return made
}
