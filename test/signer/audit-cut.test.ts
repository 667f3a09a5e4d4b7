/** Cutting the audit log: what is left proves itself from a sealed anchor, and so does the file that was exported before. */
import { describe, expect, it } from 'vitest'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import { findAnchors } from '../../src/store/audit/anchors.ts'
import type { Tx } from '../../src/store/store.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { type Service, startService } from '../support/service.ts'

const DAY = 86_400_000
const postgres = await startPostgres()

type Asked = Pick<Service, 'request'>

const verdict = async ({ request }: Asked, head = '') =>
  (await request('GET', `/v2/audit-verification${head === '' ? '' : `?head=${head}`}`)).json.data
const entriesOf = async ({ request }: Asked) =>
  (await request('GET', '/v2/audit-entries?order=asc&limit=100')).json.data as { sequence: number; hash: string }[]
const cutThrough = ({ request }: Asked, through: number, hash: string | undefined, headers = {}) =>
  request('POST', '/v2/audit-cuts', { body: { through, hash }, headers })
const change = <T>({ services }: Pick<Service, 'services'>, work: (tx: Tx) => Promise<T>) => services.store.write(work)

/** A log with an entry a day. */
async function logged(service: Service, days: number): Promise<{ sequence: number; hash: string }[]> {
  service.clock.advance(DAY)
  // The first day has the entry of the operator's key.
  for (let day = 1; day < days; day++) {
    await service.request('POST', '/v2/api-keys', { body: { name: `day ${day}` } })
    service.clock.advance(DAY)
  }
  return entriesOf(service)
}

describe.each(['SQLite', 'PostgreSQL'])('the audit log on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async () =>
    startService(
      name === 'PostgreSQL' && !('missing' in postgres)
        ? { settings: { 'database-url': await postgres.createMigratedDatabase(), 'encryption-key': '7'.repeat(64) } }
        : {},
    )

  it.skipIf(missing)('continues after a cut, and proves both the remaining and the exported entries', async () => {
    const service = await start()
    const entries = await logged(service, 6)
    const hashOf = (sequence: number) => entries[sequence - 1]!.hash
    const { status, json } = await cutThrough(service, 3, hashOf(3))
    const cut_at = new Date(service.clock.now()).toISOString()
    expect([status, json.data]).toEqual([200, { sequence: 3, hash: hashOf(3), cut_at, entries: 3 }])
    const left = await entriesOf(service)
    expect(left.map((entry) => entry.sequence)).toEqual([4, 5, 6, 7])
    expect(left[3]).toMatchObject({ action: 'audit.cut', details: { through: 3, hash: hashOf(3), entries: 3 } })
    const intact = await verdict(service)
    expect(intact).toMatchObject({ intact: true, entries: 4, broken: null, cut: { sequence: 3, hash: hashOf(3) } })
    // The head that somebody kept, and the last entry of the file, are both still part of the log.
    for (const head of [hashOf(3), hashOf(5), intact.head]) expect(await verdict(service, head)).toEqual(intact)
    expect(await verdict(service, hashOf(2))).toMatchObject({ intact: false })

    expect((await cutThrough(service, 6, hashOf(6))).status).toBe(400)
    service.clock.advance(DAY)
    expect((await cutThrough(service, 5, hashOf(5))).json.data).toMatchObject({ sequence: 5, entries: 2 })
    expect(await verdict(service)).toMatchObject({ intact: true, entries: 3, cut: { sequence: 5 } })
    for (const head of [hashOf(3), hashOf(5)]) expect(await verdict(service, head)).toMatchObject({ intact: true })
  })

  it.skipIf(missing)('shows entries and anchors that somebody else removed or added', async () => {
    const service = await start()
    const entries = await logged(service, 6)
    await cutThrough(service, 3, entries[2]!.hash)
    const { store } = service.services
    const [anchor] = await findAnchors(store.db)
    const rows = await store.db.selectFrom('audit_entries').selectAll().orderBy('sequence').execute()
    const changes: [(tx: Tx) => Promise<unknown>, (tx: Tx) => Promise<unknown>][] = [
      ...Object.entries({ sequence: 4, hash: rows[0]!.hash, at: 1, policies_json: '{"a":{}}', cut_at: 1 }).map(
        ([column, value]): [(tx: Tx) => Promise<unknown>, (tx: Tx) => Promise<unknown>] => [
          (tx) =>
            tx
              .updateTable('audit_anchors')
              .set({ [column]: value })
              .execute(),
          (tx) => tx.updateTable('audit_anchors').set(anchor!).execute(),
        ],
      ),
      [
        (tx) => tx.deleteFrom('audit_anchors').execute(),
        (tx) => tx.insertInto('audit_anchors').values(anchor!).execute(),
      ],
      [
        (tx) => tx.deleteFrom('audit_entries').where('sequence', '=', 4).execute(),
        (tx) => tx.insertInto('audit_entries').values(rows[0]!).execute(),
      ],
    ]
    for (const [tamper, mend] of changes) {
      await change(service, tamper)
      expect(await verdict(service)).toMatchObject({ intact: false })
      expect((await cutThrough(service, 4, rows[0]!.hash)).status).toBeGreaterThanOrEqual(400)
      await change(service, mend)
      expect(await verdict(service)).toMatchObject({ intact: true })
    }
  })

  it.skipIf(missing)('refuses a cut that would lose something, and names the solution', async () => {
    const service = await start()
    const entries = await logged(service, 5)
    const hash = entries[1]!.hash
    const message = async (through: number, of: string | undefined) => {
      const { status, json } = await cutThrough(service, through, of)
      return [status, json.error.param, json.error.message]
    }
    expect(await message(2, 'ab'.repeat(32))).toEqual([
      400,
      'hash',
      'Entry 2 has another hash: the export is from another log or was changed; export it again',
    ])
    expect(await message(5, entries[4]!.hash)).toEqual([
      400,
      'through',
      expect.stringContaining('Entries of the last two days stay in the log'),
    ])
    expect(await message(9, hash)).toEqual([400, 'through', 'There is no entry 9 in the log'])
    expect(await message(0, hash)).toEqual([400, 'through', expect.any(String)])
    await change(service, (tx) => tx.updateTable('audit_entries').set({ at: 1 }).where('sequence', '=', 1).execute())
    expect(await message(2, hash)).toEqual([
      400,
      'through',
      expect.stringContaining('Nothing was cut, because entry 1 does not verify'),
    ])
    expect(await entriesOf(service)).toHaveLength(5)
    const key = await service.key({ scopes: ['airdrop:admin'] })
    expect((await service.request('POST', '/v2/audit-cuts', { body: { through: 2, hash }, key })).status).toBe(403)
  })

  it.skipIf(missing)(
    'is cut once by a repeated request, and housekeeping completes a cut that was killed',
    async () => {
      const service = await start()
      const entries = await logged(service, 6)
      const rows = await service.services.store.db.selectFrom('audit_entries').selectAll().execute()
      const { hash } = entries[3]!
      const [one, other] = await Promise.all([cutThrough(service, 4, hash), cutThrough(service, 4, hash)])
      expect([one.status, other.status].toSorted()).toEqual([200, expect.anything()])
      expect((await cutThrough(service, 4, hash)).json.data).toMatchObject({ sequence: 4, hash, entries: 0 })
      expect((await cutThrough(service, 3, entries[2]!.hash)).json.error.message).toBe(
        'The log was already cut through entry 4',
      )
      const kept = await entriesOf(service)
      expect(kept.map((entry) => entry.sequence)).toEqual([5, 6, 7])

      // As a process leaves it that is killed between the anchor and the removal.
      await change(service, (tx) =>
        tx
          .insertInto('audit_entries')
          .values(rows.filter(({ sequence }) => sequence > 1 && sequence <= 4))
          .execute(),
      )
      expect(await verdict(service)).toMatchObject({ intact: true, entries: 3 })
      await housekeepingWorker.tick({
        ...service.services,
        metrics: { clockFault() {} },
        signal: new AbortController().signal,
        stopping: new AbortController().signal,
      })
      expect(await entriesOf(service)).toEqual(kept)
    },
  )
})

describe('the signer after a cut of the audit log', () => {
  it('has policy and spends of the day that still follow from the log', async () => {
    const service = await startPlatform()
    await submitMemo(service, 'one')
    await service.request('POST', '/v2/signer/pauses', { body: { reason: 'test' } })
    await service.request('POST', '/v2/signer/resets')
    service.clock.advance(3 * DAY)
    const entries = await entriesOf(service)
    const { sequence, hash } = entries.at(-1)!
    expect((await cutThrough(service, sequence, hash)).status).toBe(200)
    expect(await verdict(service)).toMatchObject({ intact: true, entries: 1 })
    await change(service, (tx) => tx.updateTable('signer_policies').set({ paused: 0 }).execute())
    expect(await verdict(service)).toMatchObject({ intact: false, broken: { why: expect.stringContaining('paused') } })
    await change(service, (tx) => tx.updateTable('signer_policies').set({ paused: 1 }).execute())
    await service.request('POST', '/v2/signer/resumptions')
    await submitMemo(service, 'two')
    expect(await verdict(service)).toMatchObject({ intact: true })
  })
})
