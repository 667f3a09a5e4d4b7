/** The audit log against somebody who can write the database. */
import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyAuditEntries } from '../../src/operations/audit-entries/verbs.ts'
import { appendAudit, auditHash, FIRST_HASH } from '../../src/store/audit/entries.ts'
import type { Row } from '../../src/store/schema.ts'
import type { Tx } from '../../src/store/store.ts'
import { type PlatformService, startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'

const verdict = async ({ request }: Pick<PlatformService, 'request'>) =>
  (await request('GET', '/v2/audit-verification')).json.data
const change = <T>({ services }: Pick<PlatformService, 'services'>, work: (tx: Tx) => Promise<T>) =>
  services.store.write(work)

/** Writes the log anew as svc did before seals: every number and hash is right. */
async function writeAnew(service: PlatformService, edit: (entry: Row<'audit_entries'>) => Row<'audit_entries'>) {
  const rows = await service.services.store.db.selectFrom('audit_entries').selectAll().orderBy('sequence').execute()
  await change(service, async (tx) => {
    let previous_hash = FIRST_HASH
    for (const row of rows) {
      const chained = { ...edit(row), previous_hash }
      previous_hash = auditHash(chained)
      const written = { ...chained, hash: previous_hash }
      await tx.updateTable('audit_entries').set(written).where('sequence', '=', row.sequence).execute()
    }
  })
}

async function logged(): Promise<PlatformService> {
  const service = await startPlatform()
  await submitMemo(service, 'one')
  await service.request('POST', '/v2/signer/pauses', { body: { reason: 'test' } })
  await service.request('POST', '/v2/signer/resumptions')
  await submitMemo(service, 'two')
  return service
}

describe('the audit log', () => {
  it('cannot be rewritten with the database alone, even with correct hashes', async () => {
    const service = await logged()
    expect(await verdict(service)).toMatchObject({ intact: true })
    await writeAnew(service, (entry) => (entry.sequence === 2 ? { ...entry, api_key_id: 'key_other' } : entry))
    const { intact, broken } = await verdict(service)
    expect([intact, broken.sequence]).toEqual([false, 2])
    expect(broken.why).toContain('its seal was not made with this installation')
  })

  it('is intact if its verification shares a commit with an entry that is rolled back and written again differently', async () => {
    const { services } = await startService()
    const { store, vault } = services
    const about = { at: 1, action: 'test', signer: null, api_key_id: '', request_id: '' }
    let runs = 0
    const write = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      const appending = store.write((tx) =>
        appendAudit(tx, vault, { ...about, details_json: JSON.stringify({ run: ++runs }) }),
      )
      const verifying = store.write(work)
      const failing = store.write(async () => {
        throw new Error('no')
      })
      await Promise.allSettled([appending, failing])
      return verifying
    }
    const verified = await verifyAuditEntries({ ...services, store: { ...store, write } } as never, {})
    expect(verified).toMatchObject({ intact: true, broken: null })
    expect(runs).toBeGreaterThan(0)
  })

  it('has no gap and no fork if some of the entries of one commit are undone', async () => {
    const { services } = await startService()
    const { store, vault } = services
    const about = { at: 1, action: 'test', signer: null, api_key_id: '', request_id: '', details_json: '{}' }
    const append = (isUndone: boolean) =>
      store.write(async (tx) => {
        const first = await appendAudit(tx, vault, about)
        const second = await appendAudit(tx, vault, about)
        if (isUndone) throw new Error('no')
        return [first.sequence, second.sequence]
      })
    const outcomes = await Promise.allSettled([false, true, true, false, true, false].map(append))
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, true, false, true])
    // PostgreSQL commits them in any order.
    const numbers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
    const [start = 0] = numbers.sort((a, b) => a - b)
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5].map((n) => start + n))
    expect(await verifyAuditEntries(services as never, {})).toMatchObject({ intact: true, broken: null })
  })

  it('finds a policy intact that was stored before there were powers, and one with another power changed', async () => {
    const service = await logged()
    const { policy_json } = await service.services.store.db
      .selectFrom('signer_policies')
      .selectAll()
      .executeTakeFirstOrThrow()
    const { powers, ...old } = JSON.parse(policy_json)
    expect(powers).toBeNull()
    await change(service, setPolicy({ policy_json: JSON.stringify(old) }))
    expect(await verdict(service)).toMatchObject({ intact: true, broken: null })
    await change(service, setPolicy({ policy_json: JSON.stringify({ ...old, powers: ['freeze'] }) }))
    expect(await verdict(service)).toMatchObject({
      intact: false,
      broken: { why: expect.stringContaining('has another powers') },
    })
  })

  it('shows a policy and spends that differ from their entries', async () => {
    const service = await logged()
    const policy = await service.services.store.db.selectFrom('signer_policies').selectAll().executeTakeFirstOrThrow()
    const spend = await service.services.store.db.selectFrom('signer_spends').selectAll().executeTakeFirstOrThrow()
    const wider = JSON.stringify({ ...JSON.parse(policy.policy_json), lamports_per_day: '99000000000' })
    const tampers: [(tx: Tx) => Promise<unknown>, (tx: Tx) => Promise<unknown>, number, string][] = [
      [setPolicy({ policy_json: wider }), setPolicy(policy), 6, 'has another lamports_per_day'],
      [setPolicy({ policy_json: '{' }), setPolicy(policy), 6, 'is not a JSON object'],
      [setPolicy({ policy_json: 'null' }), setPolicy(policy), 6, 'is not a JSON object'],
      [setPolicy({ paused: 1 }), setPolicy(policy), 6, 'is paused'],
      [setPolicy({ spend_mark: 2 }), setPolicy(policy), 6, 'counts its day from another spend'],
      [setSpend(spend, { amount: 'none' }), setSpend(spend, spend), 3, 'differs from this entry'],
      [setSpend(spend, { amount: '1' }), setSpend(spend, spend), 3, 'differs from this entry'],
      [setSpend(spend, { at: 1 }), setSpend(spend, spend), 3, 'differs from this entry'],
      [setSpend(spend, { signing_id: 'sgn_other' }), setSpend(spend, spend), 3, 'differs from this entry'],
      [
        (tx) =>
          tx
            .insertInto('signer_spends')
            .values({ ...spend, seq: 99, signing_id: 'sgn_other' })
            .execute(),
        (tx) => tx.deleteFrom('signer_spends').where('seq', '=', 99).execute(),
        0,
        'the spend of sgn_other has no entry',
      ],
    ]
    for (const [tamper, mend, sequence, why] of tampers) {
      await change(service, tamper)
      expect(await verdict(service)).toMatchObject({
        intact: false,
        broken: { sequence, why: expect.stringContaining(why) },
      })
      await change(service, mend)
      expect(await verdict(service)).toMatchObject({ intact: true, broken: null })
    }
    await change(service, (tx) => tx.deleteFrom('signer_policies').execute())
    expect(await verdict(service)).toMatchObject({ intact: false, broken: { why: expect.stringContaining('is gone') } })
  })

  it('agrees with policy and spends through resets, refusals, retries and the end of a day', async () => {
    const service = await logged()
    await service.request('POST', '/v2/signer/resets')
    await submitMemo(service, 'three', 'key-1')
    await submitMemo(service, 'three', 'key-1')
    await submitMemo(service, 'three')
    const body = { destinations: [], tokens: [] }
    expect((await service.request('PATCH', '/v2/signer/policy', { body })).status).toBe(200)
    expect(await verdict(service)).toMatchObject({ intact: true })
    for (const hours of [1, 22, 1, 1, 30]) {
      service.clock.advance(hours * 3_600_000)
      await submitMemo(service, `after ${hours}`)
      expect(await verdict(service), `${hours} hours later`).toMatchObject({ intact: true })
    }
  })

  it('has an entry for every created and revoked API key, without the key', async () => {
    const { request } = await startService()
    const body = { name: 'backend', scopes: ['airdrop:write'], rate_limit_per_minute: 7 }
    const { id, key } = (await request('POST', '/v2/api-keys', { body })).json.data
    for (let times = 0; times < 2; times++) await request('DELETE', `/v2/api-keys/${id}`, { body: {} })
    const { json, text } = await request('GET', '/v2/audit-entries?order=asc')
    expect(json.data.map(({ action, details }: { action: string; details: unknown }) => [action, details])).toEqual([
      ['api_key.created', expect.objectContaining({ name: 'local operator', scopes: ['*'], rate_limit_per_day: null })],
      [
        'api_key.created',
        {
          key: id,
          name: 'backend',
          scopes: ['airdrop:write'],
          rate_limit_per_minute: 7,
          rate_limit_per_day: 50_000,
          sha256: hash('sha256', key, 'hex'),
        },
      ],
      ['api_key.revoked', { key: id, name: 'backend' }],
    ])
    expect(text).not.toContain(key.slice(9))
    expect(await verdict({ request })).toMatchObject({ intact: true, entries: 3 })
  })
})

const setPolicy = (changes: Partial<Row<'signer_policies'>>) => (tx: Tx) =>
  tx.updateTable('signer_policies').set(changes).execute()

const setSpend =
  ({ seq }: Row<'signer_spends'>, { seq: _, ...changes }: Partial<Row<'signer_spends'>>) =>
  (tx: Tx) =>
    tx.updateTable('signer_spends').set(changes).where('seq', '=', seq).execute()
