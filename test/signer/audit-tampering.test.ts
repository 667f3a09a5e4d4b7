/** A database that somebody else wrote to: verification, doctor, a restore and the start find what the audit log does not say. */
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mintApiKey } from '../../src/operations/api-keys.ts'
import { requireRecordedState } from '../../src/operations/audit-entries/require-recorded-state.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { commandLine, MINT } from '../cli/command-line.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startDaemon } from '../support/daemon.ts'
import { onPostgres } from '../support/database.ts'
import { openService, temporaryFolder } from '../support/service.ts'
import { entries } from '../support/trees.ts'

const postgres = await startPostgres()
const { svc } = commandLine()
const ENCRYPTION_KEY = '7'.repeat(64)

interface Tampering {
  what: string
  tamper(tx: Tx): Promise<unknown>
  mend(tx: Tx): Promise<unknown>
  why: string
}

const foreignKey = {
  ...mintApiKey('live', `svc_live_${'x'.repeat(32)}`).row,
  name: 'nobody',
  scopes_json: '["*"]',
  per_minute: null,
  per_day: null,
  created_at: 1,
}

/** A row that is changed, and the same row as it was. */
function changing(
  table: 'api_keys' | 'sponsorships' | 'fee_schedules',
  row: Record<string, unknown>,
  changes: Record<string, unknown>,
  why: string,
): Tampering {
  const seq = row.seq as number
  const set = (to: object) => (tx: Tx) => tx.updateTable(table).set(to).where('seq', '=', seq).execute()
  return { what: `${table} ${Object.keys(changes)}`, tamper: set(changes), mend: set(row), why }
}

const inserting = (table: 'api_keys' | 'sponsorships' | 'fee_schedules', row: object, why: string): Tampering => ({
  what: `another of ${table}`,
  tamper: (tx) =>
    tx
      .insertInto(table)
      .values(row as never)
      .execute(),
  mend: (tx) =>
    tx
      .deleteFrom(table)
      .where('seq', '=', (eb) => eb.selectFrom(table).select((of) => of.fn.max<number>('seq').as('seq')) as never)
      .execute(),
  why,
})

async function tamperingsOf({ db }: Store): Promise<Tampering[]> {
  const keys = await db.selectFrom('api_keys').selectAll().orderBy('seq').execute()
  const [sponsorship] = await db.selectFrom('sponsorships').selectAll().execute()
  const [schedule] = await db.selectFrom('fee_schedules').selectAll().execute()
  const [, made, revoked] = keys
  const gone = 'has no entry: svc did not create it'
  const copy = ({ seq: _, ...row }: Record<string, unknown>, changes: object) => ({ ...row, ...changes })
  return [
    inserting('api_keys', foreignKey, gone),
    changing('sponsorships', sponsorship!, { budget: '999000000000' }, 'another budget than in this entry'),
    changing('fee_schedules', schedule!, { terms_json: '{}' }, 'another'),
    inserting('sponsorships', copy(sponsorship!, { airdrop_id: 'other' }), gone),
    inserting('fee_schedules', copy(schedule!, { id: 'fsc_other' }), gone),
    changing('sponsorships', sponsorship!, { enabled: 0 }, 'another enabled'),
    changing('sponsorships', sponsorship!, { used: '5' }, 'differs from the cost of its claims'),
    changing('sponsorships', sponsorship!, { used: '' }, 'differs from the cost of its claims'),
    changing('sponsorships', sponsorship!, { root: 'ab'.repeat(32) }, 'another root'),
    changing('fee_schedules', schedule!, { cron: '* * * * *' }, 'another cron'),
    changing('fee_schedules', schedule!, { active: 0 }, 'another active'),
    changing('fee_schedules', schedule!, { terms_json: '{' }, 'another'),
    changing('api_keys', made!, { scopes_json: '["*"]' }, 'another scopes'),
    changing('api_keys', made!, { scopes_json: '[' }, 'another scopes'),
    changing('api_keys', made!, { hash: 'ab'.repeat(32) }, 'another sha256'),
    changing('api_keys', made!, { per_minute: null }, 'another rate_limit_per_minute'),
    changing('api_keys', made!, { status: 'revoked' }, 'is revoked without an entry'),
    changing('api_keys', revoked!, { status: 'active' }, 'exists, although this entry ended it'),
    changing('api_keys', made!, { id: 'key_other' }, gone),
  ]
}

/** A service with a key, a revoked one, a sponsorship and a schedule. */
async function filled(options: { dataDir: string; settings?: object }) {
  const service = await openService(options)
  const ask = async (method: string, path: string, body: object) => {
    const { status, json, text } = await service.request(method, path, { body })
    expect(status, text).toBeLessThan(300)
    return json.data
  }
  await ask('POST', '/v2/api-keys', { name: 'made', scopes: ['airdrop:write'] })
  const { id } = await ask('POST', '/v2/api-keys', { name: 'revoked', scopes: ['*'] })
  await ask('DELETE', `/v2/api-keys/${id}`, {})
  const tree = await ask('POST', '/v2/merkle-trees', {
    mint: MINT,
    airdrop_count: 1,
    entries: entries(2),
    persist: true,
  })
  await ask('PATCH', `/v2/airdrops/${tree.id}/sponsorship`, { budget: '1000000' })
  await ask('PATCH', `/v2/airdrops/${tree.id}/sponsorship`, { budget: '2000000' })
  await ask('POST', '/v2/fee-schedules', { cron: '@daily', timezone: 'UTC' })
  return service
}

describe.each(onPostgres ? ['PostgreSQL'] : ['SQLite', 'PostgreSQL'])('a database on %s', (kind) => {
  const missing = kind === 'PostgreSQL' && 'missing' in postgres

  async function installed() {
    const dataDir = temporaryFolder()
    const url = 'missing' in postgres || kind === 'SQLite' ? undefined : await postgres.createMigratedDatabase()
    const settings = url === undefined ? {} : { 'database-url': url, 'encryption-key': ENCRYPTION_KEY }
    const env: Record<string, string> =
      url === undefined ? {} : { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY }
    const service = await filled({ dataDir, settings })
    return { dataDir, settings, env: { ...env, SVC_DATA_DIR: dataDir }, service, url }
  }

  type Installed = Omit<Awaited<ReturnType<typeof installed>>, 'service'>

  /** What the start of a daemon refuses it with, without its process. */
  async function expectNoStart({ dataDir, settings }: Installed, why: string) {
    const start = async () => {
      const { services, close } = await openService({ dataDir, settings })
      await requireRecordedState(services).finally(close)
    }
    await expect(start()).rejects.toThrow(why)
  }

  it.skipIf(missing)(
    'is verified with its keys, sponsorships and schedules, before and after a cut of the log',
    async () => {
      const { service } = await installed()
      onTestFinished(() => service.close())
      const { store } = service.services
      const verdict = async () => (await service.request('GET', '/v2/audit-verification')).json.data
      const tamperings = await tamperingsOf(store)
      for (const isCut of [false, true]) {
        if (isCut) {
          service.clock.advance(3 * 86_400_000)
          const { sequence, hash } = (await service.request('GET', '/v2/audit-entries?limit=1')).json.data[0]
          const cut = await service.request('POST', '/v2/audit-cuts', { body: { through: sequence, hash } })
          expect(cut.status, cut.text).toBe(200)
        }
        expect(await verdict()).toMatchObject({ intact: true, broken: null })
        for (const { what, tamper, mend, why } of tamperings) {
          await store.write(tamper)
          const { intact, broken } = await verdict()
          if (isCut && what === 'api_keys status' && why.includes('ended')) expect(broken.why).toContain('has no entry')
          else expect([intact, broken?.why], what).toEqual([false, expect.stringContaining(why)])
          await store.write(mend)
          expect(await verdict(), what).toMatchObject({ intact: true })
        }
      }
    },
  )

  it.skipIf(missing)('is refused by doctor, restore and start while it has rows that its log contradicts', async () => {
    const { service, ...all } = await installed()
    const { dataDir, env, url } = all
    const tamperings = (await tamperingsOf(service.services.store)).slice(0, 3)
    await service.close()
    const write = async (work: Tampering['tamper']) => {
      const store = await openStore({ dataDir, databaseUrl: url })
      await store.write(work).finally(() => store.close())
    }
    const run = async (args: string[]) => {
      const { exitCode, stdout, stderr } = await svc(args, { env })
      return { exitCode, said: (stdout + stderr).replace(/\s+/g, ' ') }
    }
    for (const [n, { tamper, mend, why }] of tamperings.entries()) {
      await write(tamper)
      const refusal = { exitCode: 1, said: expect.stringContaining(why) }
      expect(await run(['audit', 'verify'])).toEqual(refusal)
      expect(await run(['doctor', '-o', 'plain'])).toMatchObject(refusal)
      if (n > 0) await expectNoStart(all, why)
      else await expect(startDaemon({ dataDir, env, flags: ['--rpc-port', '0'] })).rejects.toThrow(why)
      if (kind === 'SQLite') {
        const backup = join(temporaryFolder(), 'backup')
        expect(await run(['db', 'backup', backup, '--include', 'encryption-key'])).toMatchObject({ exitCode: 0 })
        expect(await run(['db', 'restore', backup, '--data-dir', temporaryFolder()])).toEqual(refusal)
      }
      await write(mend)
    }
    expect((await run(['doctor', '-o', 'plain'])).said).toMatch(/ok audit log \d+ entries intact/)
    const daemon = await startDaemon({ dataDir, env, flags: ['--rpc-port', '0'] })
    await daemon.stop()
  })

  it.skipIf(missing)(
    'is refused with triggers, views and rules that change or hide rows and come from no migration',
    async () => {
      const { service, ...all } = await installed()
      const { dataDir, env, url } = all
      await service.close()
      const additions =
        kind === 'SQLite'
          ? [
              [
                'create trigger hide after insert on audit_entries begin delete from audit_entries where sequence = new.sequence; end',
                'drop trigger hide',
                'the trigger "hide" on audit_entries does not come from a migration',
              ],
              [
                'create view peek as select * from api_keys',
                'drop view peek',
                'the view "peek" does not come from a migration',
              ],
            ]
          : [
              [
                `create function hide() returns trigger language plpgsql as $$ begin return null; end $$;
               create trigger hide before insert on audit_entries for each row execute function hide()`,
                'drop trigger hide on audit_entries',
                'the trigger "hide" on audit_entries does not come from a migration',
              ],
              [
                'create view peek as select * from api_keys',
                'drop view peek',
                'the view "peek" does not come from a migration',
              ],
              [
                'create rule quiet as on insert to audit_entries do instead nothing',
                'drop rule quiet on audit_entries',
                'the rule "quiet" on audit_entries does not come from a migration',
              ],
              [
                `alter extension plpgsql add table audit_entries;
               create trigger member before insert on audit_entries for each row execute function hide()`,
                'drop trigger member on audit_entries; alter extension plpgsql drop table audit_entries',
                'the trigger "member" on audit_entries does not come from a migration',
              ],
              [
                'create policy part on audit_entries using (false)',
                'drop policy part on audit_entries',
                'the policy "part" on audit_entries does not come from a migration',
              ],
              [
                'alter table audit_entries enable row level security',
                'alter table audit_entries disable row level security',
                'the row security "audit_entries" does not come from a migration',
              ],
              [
                `create function own(text) returns text immutable language sql as $$ select $1 $$;
               alter table audit_entries alter column request_id set default own('x')`,
                'alter table audit_entries alter column request_id drop default',
                'the default "request_id" on audit_entries does not come from a migration',
              ],
              [
                `alter table audit_entries add constraint checked check (own(request_id) is not null)`,
                'alter table audit_entries drop constraint checked',
                'the constraint "checked" on audit_entries does not come from a migration',
              ],
              [
                'create index called on audit_entries (own(request_id))',
                'drop index called',
                'the index "called" on audit_entries does not come from a migration',
              ],
            ]
      const copies = temporaryFolder()
      for (const [add = '', drop = '', why = ''] of additions) {
        const store = await openStore({ dataDir, databaseUrl: url })
        const run = async (text: string) => {
          for (const statement of text.split(/;\s*(?=create trigger|alter )/))
            await store.write((tx) => sql.raw(statement).execute(tx))
        }
        try {
          await run(add)
          const doctor = await svc(['doctor', '-o', 'plain'], { env })
          expect([doctor.exitCode, doctor.stdout.replace(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(why)])
          await expectNoStart(all, why)
          expect(await svc(['db', 'status'], { env })).toMatchObject({ exitCode: 1 })
          if (kind === 'SQLite') {
            const backup = join(copies, drop.replaceAll(' ', '-'))
            expect((await svc(['db', 'backup', backup], { env })).exitCode).toBe(0)
            const restored = await svc(['db', 'restore', backup, '--force', '--yes'], { env })
            expect([restored.exitCode, restored.stderr.replace(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(why)])
          }
          await run(drop)
        } finally {
          await store.close()
        }
      }
      expect((await svc(['doctor', '-o', 'plain'], { env })).stdout).not.toContain('does not come from a migration')
    },
  )
})
