/** Acts that need approvals: nothing is signed before enough approvers have signed exactly what will be done. */
import { hash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { findProposal, insertProposal } from '../../src/store/proposals/proposals.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { approversOf, decide, NOTHING_WAITS, type Person, person, textOf } from '../support/approvers.ts'
import { type Limits, type PlatformService, startPlatform, submitMemo } from '../support/platform-wallet.ts'

const postgres = await startPostgres()

const RULES = { ...NOTHING_WAITS, lamports_per_transaction: '1000000', lamports_per_day: '1000000' }

// biome-ignore lint/suspicious/noExplicitAny: the data of answers
type Data = any

async function started(
  name: string,
  { rules = {}, limits = {} }: Data = {},
): Promise<{ service: PlatformService; approvers: Person[] }> {
  const settings =
    name === 'PostgreSQL' && !('missing' in postgres)
      ? { 'database-url': await postgres.createMigratedDatabase(), 'encryption-key': '7'.repeat(64) }
      : {}
  const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0', ...limits } as Limits, {
    settings,
  })
  const approvers = await approversOf(service, 2, { ...RULES, ...rules }, { people: 3, expires_in: 3600 })
  return { service, approvers }
}

const read = async ({ request }: PlatformService, { id }: Data): Promise<Data> =>
  (await request('GET', `/v2/proposals/${id}`)).json.data
const actions = async ({ request }: PlatformService): Promise<string[]> =>
  (await request('GET', '/v2/audit-entries?order=asc&limit=100')).json.data.map(({ action }: Data) => action)
const signings = ({ services }: PlatformService) => services.store.db.selectFrom('signings').selectAll().execute()

async function proposed(service: PlatformService, key?: string, apiKey?: string): Promise<Data> {
  const { status, json, text } = await service.request('POST', '/v2/signer/tests', {
    body: { submit: true, memo: `hello ${key ?? ''}` },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    ...(apiKey === undefined ? {} : { key: apiKey }),
  })
  expect(status, text).toBe(202)
  expect(json.data.mode).toBe('proposed')
  return json.data.proposal
}

describe.each(['SQLite', 'PostgreSQL'])('an act that waits, on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const test = it.skipIf(missing)

  test('is signed once two of three approvers have signed its text, and never before', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob, cem] = approvers as [Person, Person, Person]
    const proposal = await proposed(service, 'k1')
    expect(proposal).toMatchObject({
      kind: 'rule',
      status: 'active',
      operation: 'signer.test',
      needed: 2,
      decisions: [],
      signature: null,
      approver: {
        kind: 'rule',
        reason:
          '0.000005 SOL would leave, but at most 0 SOL may leave in one transaction; 0.000005 SOL would leave, but 0 SOL of the 0 SOL for 24 hours are spent and 0 SOL remain',
        rule: 'lamports_per_transaction',
        rules: ['lamports_per_transaction', 'lamports_per_day'],
      },
    })
    expect(proposal.what).toMatch(/^Submit a memo: at most 0\.000005 SOL leaves/)
    // The same request is answered with the same proposal.
    expect(await proposed(service, 'k1')).toEqual(proposal)
    expect(await signings(service)).toMatchObject([{ state: 'waiting', signature: null }])
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe('0')

    const first = await decide(service, proposal, ada)
    expect(first.json.data, first.text).toMatchObject({
      mode: 'recorded',
      proposal: { status: 'active', decisions: [{ approver: ada.address, decision: 'approved' }] },
    })
    expect(await signings(service)).toMatchObject([{ state: 'waiting' }])
    expect((await decide(service, proposal, bob)).json.data.proposal).toMatchObject({ status: 'executed' })
    const done = await read(service, proposal)
    const [signing, ...more] = await signings(service)
    expect(more).toEqual([])
    expect(signing).toMatchObject({ state: 'signed', signature: done.signature, plan: null })
    const { json } = await service.request('GET', `/v2/transactions/${done.signature}`)
    expect(json.data.signature).toBe(done.signature)
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe('5000')
    expect((await decide(service, proposal, cem)).status).toBe(400)
    expect((await service.request('POST', `/v2/proposals/${proposal.id}/executions`)).json.data.proposal).toEqual(done)
    const log = await actions(service)
    expect(log.slice(log.indexOf('proposal.created'))).toEqual([
      'proposal.created',
      'proposal.approved',
      'proposal.approved',
      'signing.intended',
      'signing.signed',
      'proposal.executed',
    ])
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  test('is executed once when two approvers approve it at the same moment', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob, cem] = approvers as [Person, Person, Person]
    for (const key of ['k1', 'k2', 'k3']) {
      const proposal = await proposed(service, key)
      const answers = await Promise.all(
        [ada, bob, cem].map((who, i) => decide(service, proposal, who, { key: `${key} ${i}` })),
      )
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2)
      expect(await read(service, proposal)).toMatchObject({ status: 'executed' })
    }
    const all = await signings(service)
    expect(all.map(({ state }) => state)).toEqual(['signed', 'signed', 'signed'])
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe('15000')
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  test('is refused to a stranger, to the platform wallet, to whoever asked, twice, and with another signature', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const asking = await service.key({ scopes: ['*'] })
    const { json: keys } = await service.request('GET', '/v2/api-keys')
    const id = keys.data.find((key: Data) => key.name === 'test').id
    const dan = person()
    await service.request('POST', '/v2/approvers', { body: { address: dan.address, name: 'Dan', api_key_id: id } })
    const asked = await service.request('POST', '/v2/signer/tests', { key: asking, body: { submit: true, memo: 'x' } })
    const { proposal } = asked.json.data
    const platform = person(service.wallet)
    const added = await service.request('POST', '/v2/approvers', { body: { address: platform.address, name: 'P' } })
    expect(added.json.error).toMatchObject({ param: 'address' })
    for (const [who, message] of [
      [person(), 'is not an approver'],
      [platform, 'is not an approver'],
      [dan, 'which asked for the act'],
    ] as const) {
      const refused = await decide(service, proposal, who)
      expect([refused.status, refused.json.error.param], message).toEqual([400, 'approver'])
      expect(refused.json.error.message).toContain(message)
    }
    const genesis = await service.services.chain.genesisHash()
    const text = textOf(proposal, 'approved', genesis)
    for (const other of [
      text.replace('approve', 'reject'),
      text.replace(proposal.id, 'prp_other'),
      textOf({ ...proposal, what: 'Nothing' }, 'approved', genesis),
      textOf({ ...proposal, message_sha256: '00'.repeat(32) }, 'approved', genesis),
      textOf(proposal, 'approved', 'another cluster'),
      textOf({ ...proposal, expires_at: '2030-01-01T00:00:00.000Z' }, 'approved', genesis),
    ]) {
      const body = { approver: ada.address, signature: ada.sign(other) }
      const refused = await service.request('POST', `/v2/proposals/${proposal.id}/approvals`, { body })
      expect([refused.status, refused.json.error.param]).toEqual([400, 'signature'])
    }
    const stolen = { approver: bob.address, signature: ada.sign(text) }
    expect((await service.request('POST', `/v2/proposals/${proposal.id}/approvals`, { body: stolen })).status).toBe(400)
    expect((await decide(service, proposal, ada)).status).toBe(200)
    expect((await decide(service, proposal, ada)).status).toBe(400)
    expect((await decide(service, proposal, ada, { decision: 'rejected' })).status).toBe(400)
    expect(await read(service, proposal)).toMatchObject({ status: 'active', decisions: [{ approver: ada.address }] })
    expect(await signings(service)).toMatchObject([{ state: 'waiting' }])
  })

  test('does not count the approval of somebody who was removed meanwhile, nor too few for a stricter policy', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob, cem] = approvers as [Person, Person, Person]
    const proposal = await proposed(service)
    await decide(service, proposal, ada)
    expect((await service.request('DELETE', `/v2/approvers/${ada.address}`)).status).toBe(200)
    expect((await decide(service, proposal, bob)).json.data.proposal).toMatchObject({ status: 'active' })
    expect((await decide(service, proposal, ada)).json.error.message).toContain('was removed')
    await service.request('POST', '/v2/approvers', { body: { address: person().address, name: 'Eve' } })
    const approvals = { needed: 3, rules: RULES }
    expect((await service.request('PATCH', '/v2/signer/policy', { body: { approvals } })).status).toBe(200)
    expect((await decide(service, proposal, cem)).json.data.proposal).toMatchObject({ status: 'active' })
    expect(await signings(service)).toMatchObject([{ state: 'waiting' }])
    // Added again, the signature of before counts again.
    await service.request('POST', '/v2/approvers', { body: { address: ada.address, name: 'Ada' } })
    expect((await service.request('POST', `/v2/proposals/${proposal.id}/executions`)).json.error.message).toContain(
      'not approved yet',
    )
  })

  test('does not count an approval in the database that its approver has not signed', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob, cem] = approvers as [Person, Person, Person]
    const proposal = await proposed(service)
    await decide(service, proposal, cem, { decision: 'rejected' })
    await service.services.store.write(async (tx) => {
      await tx
        .updateTable('proposal_decisions')
        .set({ decision: 'approved' })
        .where('approver', '=', cem.address)
        .execute()
    })
    expect((await decide(service, proposal, ada)).json.data.proposal).toMatchObject({ status: 'active' })
    expect((await decide(service, proposal, bob)).json.data.proposal).toMatchObject({ status: 'executed' })
  })

  test('is not signed if more would leave than was approved', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const proposal = await proposed(service)
    const { store, vault } = service.services
    const { id, plan } = (await signings(service))[0]!
    const opened = vault.open(plan!, `signing:${id}`).toString()
    const less = vault.seal(opened.replace('"lamports":"5000"', '"lamports":"4999"'), `signing:${id}`)
    await store.write((tx) => tx.updateTable('signings').set({ plan: less }).execute())
    for (const who of [ada, bob]) await decide(service, proposal, who)
    const fault = expect.stringContaining('0.000005 SOL would leave, but 0.000004999 SOL were approved')
    expect(await read(service, proposal)).toMatchObject({ status: 'approved', signature: null, fault })
    expect(await actions(service)).not.toContain('signing.signed')
  })

  test('is not signed if an approver is removed, it expires, or it is cancelled while it is executed', async () => {
    const changes: [string, (service: PlatformService, proposal: Data, ada: Person) => Promise<unknown>, RegExp][] = [
      ['removed', (service, _, ada) => service.request('DELETE', `/v2/approvers/${ada.address}`), /1 of 2 approvals/],
      ['expired', async (service) => service.clock.advance(3_600_000), /expired at/],
      ['cancelled', (service, { id }) => service.request('POST', `/v2/proposals/${id}/cancellations`), /is cancelled/],
      [
        'key revoked',
        async (service, { asked_by }) =>
          service.services.store.write(async (tx) => {
            await tx.updateTable('api_keys').set({ status: 'revoked' }).where('id', '=', asked_by).execute()
          }),
        /was revoked/,
      ],
      ['paused', (service) => service.request('POST', '/v2/signer/pauses'), /paused/],
      [
        'stricter',
        (service) => service.request('PATCH', '/v2/signer/policy', { body: { approvals: null } }),
        /at most 0 SOL may leave/,
      ],
    ]
    for (const [what, change, fault] of changes) {
      const { service, approvers } = await started(name)
      const [ada, bob] = approvers as [Person, Person]
      const proposal = await proposed(service, 'a', await service.key({ scopes: ['*'] }))
      await decide(service, proposal, ada)
      // Between the last approval and the reservation, the node is asked; the change happens then.
      const { chain } = service.services
      const call = chain.call.bind(chain)
      let isChanged = false
      vi.spyOn(chain, 'call').mockImplementation((async (method: string, ...rest: unknown[]) => {
        if (method === 'simulateTransaction' && !isChanged) {
          isChanged = true
          await change(service, proposal, ada)
        }
        return (call as Data)(method, ...rest)
      }) as never)
      await decide(service, proposal, bob)
      expect(isChanged, what).toBe(true)
      vi.restoreAllMocks()
      const after = await read(service, proposal)
      expect(after.signature, what).toBeNull()
      expect(['approved', 'cancelled'], what).toContain(after.status)
      if (after.status === 'approved') expect(after.fault, what).toMatch(fault)
      expect((await signings(service))[0]?.signature, what).toBeNull()
      expect(await actions(service), what).not.toContain('signing.signed')
      if (what === 'expired') {
        await followRuleProposals(service.services)
        expect(await read(service, proposal)).toMatchObject({ status: 'expired' })
        expect(await signings(service)).toMatchObject([{ state: 'abandoned', plan: null }])
      }
    }
  }, 120_000)

  test('is not stored or sent if an approver is removed while the provider signs', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const proposal = await proposed(service)
    await decide(service, proposal, ada)
    const signer = await service.services.signer()
    const sign = signer!.sign
    vi.spyOn(signer!, 'sign').mockImplementation(async (message) => {
      await service.request('DELETE', `/v2/approvers/${ada.address}`)
      return sign(message)
    })
    await decide(service, proposal, bob)
    vi.restoreAllMocks()
    expect(await read(service, proposal)).toMatchObject({ status: 'approved', signature: null })
    expect(await signings(service)).toMatchObject([{ state: 'intended', signature: null }])
    expect(await service.services.store.db.selectFrom('transactions').selectAll().execute()).toEqual([])
  })

  test('is signed with the message of the process that reserved it last, not of one that was suspended meanwhile', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const proposal = await proposed(service)
    await decide(service, proposal, ada)
    const signer = await service.services.signer()
    const sign = signer!.sign
    const moment = () => {
      let come = () => {}
      const passed = new Promise<void>((resolve) => {
        come = resolve
      })
      return { passed, come }
    }
    const [reserved, stored] = [moment(), moment()]
    let calls = 0
    let other: Promise<void> | undefined
    vi.spyOn(signer!, 'sign').mockImplementation(async (message) => {
      calls++
      if (calls === 1) {
        // Suspended until its blockhash has ended and another process has reserved another message.
        ;(await service.services.chain.local()).advance(600)
        service.clock.advance(60_000)
        other = followRuleProposals(service.services)
        await reserved.passed
      } else {
        reserved.come()
        await stored.passed
      }
      return sign(message)
    })
    await decide(service, proposal, bob)
    stored.come()
    await other
    vi.restoreAllMocks()
    expect(calls).toBe(2)
    const [signing] = await signings(service)
    const transactions = await service.services.store.db
      .selectFrom('transactions')
      .select(['signature', 'raw'])
      .execute()
    expect(transactions).toHaveLength(1)
    const { signature, raw } = transactions[0]!
    expect(signing).toMatchObject({ state: 'signed', signature })
    expect(hash('sha256', decodeWireTransaction(raw).messageBytes, 'hex')).toBe(signing?.message_sha256)
    expect(await read(service, proposal)).toMatchObject({ status: 'executed', signature })
  })

  test('is not signed if its message, its hash or its draft was changed in the database', async () => {
    for (const column of ['message', 'message_sha256', 'signing'] as const) {
      const { service, approvers } = await started(name)
      const [ada, bob] = approvers as [Person, Person]
      const proposal = await proposed(service, 'a')
      const other = (await submitMemo(service, 'another memo', 'b')).json.data.proposal
      await decide(service, proposal, ada)
      await service.services.store.write(async (tx) => {
        const from = await tx.selectFrom('proposals').selectAll().where('id', '=', other.id).executeTakeFirstOrThrow()
        const changes = column === 'signing' ? { signing_id: from.signing_id } : { [column]: from[column] }
        await tx.updateTable('proposals').set(changes).where('id', '=', proposal.id).execute()
      })
      await decide(service, proposal, bob)
      await service.request('POST', `/v2/proposals/${proposal.id}/executions`)
      expect((await read(service, proposal)).signature, column).toBeNull()
      expect(
        (await signings(service)).map(({ state }) => state),
        column,
      ).toEqual(['waiting', 'waiting'])
    }
  })

  test('is not signed if it was approved as one of another chain', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const proposal = await proposed(service)
    const genesis = person().address
    await service.services.store.write(async (tx) => {
      await tx.updateTable('proposals').set({ genesis }).where('id', '=', proposal.id).execute()
    })
    const elsewhere = { request: service.request, services: { chain: { genesisHash: async () => genesis } } }
    for (const who of [ada, bob]) expect((await decide(elsewhere, proposal, who)).status).toBe(200)
    expect(await read(service, proposal)).toMatchObject({
      status: 'approved',
      signature: null,
      fault: expect.stringContaining(`is of the chain ${genesis}`),
    })
    expect(await signings(service)).toMatchObject([{ state: 'waiting', signature: null }])
  })

  test('that was executed fails once its transaction has expired, and stays executed once that is final', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const { chain, store } = service.services
    const local = await chain.local()
    const [lost, landed] = [await proposed(service, 'a'), await proposed(service, 'b')]
    const call = chain.call.bind(chain)
    const dropped = vi.spyOn(chain, 'call').mockImplementation((async (method: string, ...rest: unknown[]) => {
      if (method === 'sendTransaction') throw new Error('the node is gone')
      return (call as Data)(method, ...rest)
    }) as never)
    for (const who of [ada, bob]) await decide(service, lost, who)
    expect(await read(service, lost)).toMatchObject({ status: 'executed', fault: null })
    for (let i = 0; i < 4; i++) {
      local.advance(200)
      service.clock.advance(10_000)
      await followTransactions(service.services)
    }
    dropped.mockRestore()
    for (const who of [ada, bob]) await decide(service, landed, who)
    // The worker finds the one, and whoever reads the proposal the other.
    await followRuleProposals(service.services)
    const failed = await read(service, lost)
    expect(failed).toMatchObject({
      status: 'failed',
      fault: `its transaction ${failed.signature} expired before it was in a block, so nothing has happened`,
      next: 'Repeat the request, with another Idempotency-Key, to propose it anew',
    })
    expect((await service.request('POST', `/v2/proposals/${lost.id}/executions`)).status).toBe(400)
    for (const seconds of [1, 20, 20]) {
      local.advance(seconds)
      service.clock.advance(10_000)
      await followTransactions(service.services)
      expect(await read(service, landed)).toMatchObject({ status: 'executed', fault: null })
    }
    const looks = await store.db.selectFrom('proposals').select('next_look_at').execute()
    expect(looks).toEqual([{ next_look_at: null }, { next_look_at: null }])
    await followRuleProposals(service.services)
    expect((await actions(service)).filter((action) => action === 'proposal.failed')).toHaveLength(1)
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  test('expires, is rejected once it cannot be approved any more, and is cancelled by whoever asked', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob, cem] = approvers as [Person, Person, Person]
    const late = await proposed(service, 'a')
    await decide(service, late, ada)
    service.clock.advance(3_600_000)
    expect((await decide(service, late, bob)).json.error.message).toContain('expired')
    await followRuleProposals(service.services)
    expect(await read(service, late)).toMatchObject({
      status: 'expired',
      next: 'Repeat the request, with another Idempotency-Key, to propose it anew',
    })

    const unwanted = await proposed(service, 'b')
    expect((await decide(service, unwanted, ada, { decision: 'rejected' })).json.data.proposal.status).toBe('active')
    expect((await decide(service, unwanted, bob, { decision: 'rejected' })).json.data.proposal.status).toBe('rejected')
    expect((await decide(service, unwanted, cem)).status).toBe(400)

    const cancelled = await proposed(service, 'c')
    const key = await service.key()
    expect((await service.request('POST', `/v2/proposals/${cancelled.id}/cancellations`, { key })).status).toBe(403)
    const { data } = (await service.request('POST', `/v2/proposals/${cancelled.id}/cancellations`)).json
    expect(data.proposal.status).toBe('cancelled')
    expect((await decide(service, cancelled, ada)).status).toBe(400)
    expect((await signings(service)).map(({ state, plan }) => [state, plan])).toEqual(
      Array(3).fill(['abandoned', null]),
    )
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  test('is executed by the worker if the process ended after the last approval, also by two daemons at once', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const proposal = await proposed(service)
    await decide(service, proposal, ada)
    const { chain } = service.services
    vi.spyOn(chain, 'call').mockRejectedValue(new Error('the process ends here'))
    await decide(service, proposal, bob).catch(() => undefined)
    vi.restoreAllMocks()
    await service.services.store.write(async (tx) => {
      await tx.updateTable('proposals').set({ fault: null }).where('id', '=', proposal.id).execute()
    })
    expect(await read(service, proposal)).toMatchObject({ status: 'approved', signature: null })
    service.clock.advance(60_000)
    await Promise.all([followRuleProposals(service.services), followRuleProposals(service.services)])
    const done = await read(service, proposal)
    expect(done).toMatchObject({ status: 'executed', fault: null })
    expect(await signings(service)).toMatchObject([{ state: 'signed', signature: done.signature }])
    expect((await actions(service)).filter((action) => action === 'signing.signed')).toHaveLength(1)
  })

  test('of one API key takes at most half of the places, so that others can still ask', async () => {
    const { service } = await started(name)
    const { db } = service.services.store
    const greedy = await service.key({ scopes: ['*'] })
    const { id } = await proposed(service, 'first', greedy)
    const { seq: _, ...row } = (await findProposal(db, id))!
    const copies = Array.from({ length: 249 }, (_, i) => ({ ...row, id: `${id}-${i}`, signing_id: null }))
    for (const copy of copies) await service.services.store.write((tx) => insertProposal(tx, copy))
    const more = { body: { submit: true, memo: 'one more' }, key: greedy }
    const refused = await service.request('POST', '/v2/signer/tests', more)
    expect([refused.status, refused.json.error.details]).toEqual([400, { waiting: 250 }])
    expect((await proposed(service, 'other')).status).toBe('active')
  })

  test('is cancelled with the API key that asked, and frees its places', async () => {
    const { service, approvers } = await started(name)
    const [ada, bob] = approvers as [Person, Person]
    const { json } = await service.request('POST', '/v2/api-keys', { body: { name: 'leaked', scopes: ['*'] } })
    const { id, key } = json.data
    const [one, two] = [await proposed(service, 'a', key), await proposed(service, 'b', key)]
    const kept = await proposed(service, 'c')
    await decide(service, one, ada)
    expect((await service.request('DELETE', `/v2/api-keys/${id}`)).status).toBe(200)
    for (const each of [one, two]) {
      const fault = `the API key ${id}, which asked for it, was revoked`
      expect(await read(service, each)).toMatchObject({ status: 'cancelled', fault })
      expect((await decide(service, each, bob)).json.error.message).toContain(fault)
    }
    expect(await read(service, kept)).toMatchObject({ status: 'active', fault: null })
    expect((await signings(service)).map(({ state }) => state).sort()).toEqual(['abandoned', 'abandoned', 'waiting'])
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  test('is refused above the amount that approvals permit, and by rules that never wait', async () => {
    const { service } = await started(name, { rules: { lamports_per_transaction: '4999' } })
    const above = await submitMemo(service)
    expect([above.status, above.json.error.details.rule]).toEqual([400, 'lamports_per_transaction'])
    await service.request('PATCH', '/v2/signer/policy', { body: { max_fee_lamports: '1' } })
    expect((await submitMemo(service)).json.error.details.rule).toBe('fee')
    expect(await signings(service)).toEqual([])
  })

  test('is proposed only if enough approvers may approve it, and an operation or a time can wait too', async () => {
    const limits = { lamports_per_transaction: '1000000', lamports_per_day: '1000000' }
    const { service, approvers } = await started(name, { limits, rules: { operations: ['signer.test'] } })
    expect((await proposed(service, 'a')).approver.rules).toEqual(['operation'])
    // The clock begins on a Monday at noon.
    const hours = { days: ['mon'], from: '09:00', to: '17:00', timezone: 'UTC' }
    const approvals = { needed: 2, rules: { ...RULES, hours } }
    await service.request('PATCH', '/v2/signer/policy', { body: { approvals } })
    expect((await submitMemo(service, 'in time')).status).toBe(200)
    service.clock.advance(6 * 3_600_000)
    expect((await proposed(service, 'b')).approver.rules).toEqual(['hours'])
    for (const { address } of approvers.slice(0, 2)) await service.request('DELETE', `/v2/approvers/${address}`)
    const few = await submitMemo(service, 'few')
    expect([few.status, few.json.error.details]).toEqual([400, { rule: 'hours', needed: 2, approvers: 1 }])
  })
})
