/** What the service observes of itself: each cause is made, its item is listed, and it goes with its cause. */
import { describe, expect, it, vi } from 'vitest'
import { attentionWorker, processAttentionWorker, recordCheckWorker } from '../../daemon/workers/attention.ts'
import { takeLooks } from '../../src/operations/attention/looks.ts'
import { PROCESS_LOOKS } from '../../src/operations/attention/process-looks.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { storeProgramState } from '../../src/operations/programs/program-state.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { storeLook } from '../../src/store/attention/looks.ts'
import { recordBackup } from '../../src/store/installation/backup-record.ts'
import { makeAuthority, withoutOpenssl } from '../support/certificates.ts'
import { type FaultyEndpoint, openFaultyCluster } from '../support/faulty-endpoints.ts'
import { startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { type Service, startService, temporaryFolder } from '../support/service.ts'
import { SOL } from '../support/wallets.ts'

const { signal } = new AbortController()
const PATIENCE = { timeout: 30_000, interval: 100 }
type Looking = { services: object }
const contextOf = ({ services }: Looking) => ({ ...services, signal, stopping: signal }) as never
const look = (service: Looking) => attentionWorker.tick(contextOf(service))
const lookAtProcess = (service: Looking) => processAttentionWorker.tick(contextOf(service))
const check = (service: Looking) => recordCheckWorker.tick(contextOf(service))

interface Item {
  id: string
  since: string
  summary: string
  command: string
  page: string
}
async function itemsOf({ request }: Pick<Service, 'request'>, kind: string): Promise<Item[]> {
  const { status, json } = await request('GET', `/v2/attention?kind=${kind}`)
  expect([status, json.error]).toEqual([200, undefined])
  return json.data
}

describe('the platform wallet', () => {
  it('is low if a schedule needs more than it has, and not once it has it', async () => {
    const service = await startPlatform()
    const { chain, store } = service.services
    const local = await chain.local()
    const address = service.wallet.publicKey.toBase58()
    const body = { cron: '0 0 * * *', timezone: 'UTC', kinds: ['dbc'], beneficiary: 'partner', threshold: '1' }
    const made = await service.request('POST', '/v2/fee-schedules', { body })
    expect([made.status, made.json.error]).toEqual([201, undefined])
    await look(service)
    expect(await itemsOf(service, 'wallet_low')).toEqual([])
    const run = { schedule_id: made.json.data.id, status: 'done' as const, pools: 90, claimed: 90, external_uid: null }
    await store.write((tx) =>
      tx
        .insertInto('fee_schedule_runs')
        .values({
          ...run,
          id: 'fsr_1',
          scheduled_at: null,
          reason: null,
          terms_json: null,
          next_step_at: null,
          metadata_json: null,
          created_at: 1,
        })
        .execute(),
    )
    await look(service)
    expect(await itemsOf(service, 'wallet_low')).toEqual([])
    await store.write((tx) => tx.updateTable('fee_schedule_runs').set({ claimed: 2_000_000 }).execute())
    await look(service)
    const [item] = await itemsOf(service, 'wallet_low')
    expect(item).toMatchObject({ id: `wallet_low.${address}`, page: '/console/signer' })
    expect(item?.summary).toMatch(/has \d+(\.\d+)? SOL, and 2000000 scheduled claims need about 200\.00293016 SOL\.$/)
    expect(item?.command).toMatch(new RegExp(`^svc wallet send ${address} 100\\.00293016$`))
    local.airdrop(address, 200n * SOL)
    await look(service)
    expect(await itemsOf(service, 'wallet_low')).toEqual([])
  })
})

/** While it is stale, the endpoint also says that it is. */
function tellEarlierSlots(endpoint: FaultyEndpoint) {
  const { fetch: ask } = endpoint.node
  endpoint.node.fetch = async (url, init) => {
    const answer = (await (await ask(url, init)).json()) as { result: unknown }
    const isSlot = String(init?.body).includes('"getSlot"') && endpoint.fault !== undefined
    return Response.json(isSlot ? { ...answer, result: Number(answer.result) - 140 } : answer)
  }
}

describe('nodes', () => {
  const named = { stale: 'stale slot', down: '503', foreign: 'wrong genesis' } as const
  it.each([
    ['stale', 'node_behind', /slots behind the others/],
    ['down', 'node_unreachable', /#1 does not answer: .*503/],
    ['foreign', 'other_consensus', /#1 is of another chain \(genesis FoRe1gn/],
  ] as const)('name one of three that is %s after two looks, until it is sound again', async (fault, kind, why) => {
    const cluster = await openFaultyCluster(temporaryFolder())
    const service = await cluster.start()
    const lookLater = async () => {
      cluster.clock.advance(6_000)
      await lookAtProcess(service)
    }
    const [endpoint] = cluster.endpoints
    if (fault === 'stale') tellEarlierSlots(endpoint!)
    endpoint!.fault = named[fault]
    await lookLater()
    expect(await itemsOf(service, kind)).toEqual([])
    await vi.waitUntil(async () => {
      await lookLater()
      return (await itemsOf(service, kind)).length > 0
    }, PATIENCE)
    const [item] = await itemsOf(service, kind)
    expect(item).toMatchObject({ id: `${kind}.endpoint-1`, command: 'svc doctor', page: '/console/system' })
    expect(item?.summary).toMatch(why)
    endpoint!.fault = undefined
    await vi.waitUntil(async () => {
      await lookLater()
      return (await itemsOf(service, kind)).length === 0
    }, PATIENCE)
    await service.stop()
    await cluster.close()
  })

  it('name a single one that does not answer, and one whose newest block is old', async () => {
    const cluster = await openFaultyCluster(temporaryFolder(), 1)
    const service = await cluster.start()
    const [endpoint] = cluster.endpoints
    let ahead = 0
    const clock = { now: () => cluster.clock.now() + ahead }
    const looks = async () => {
      for (let i = 0; i < 2; i++) await lookAtProcess({ services: { ...service.services, clock } })
    }
    await looks()
    expect([...(await itemsOf(service, 'node_unreachable')), ...(await itemsOf(service, 'node_behind'))]).toEqual([])
    ahead = 200_000
    await looks()
    const [old] = await itemsOf(service, 'node_behind')
    expect(old?.summary).toMatch(/^The newest block that \S+ shows is \d+ seconds old/)
    ahead = 0
    endpoint!.fault = '503'
    await looks()
    expect(await itemsOf(service, 'node_behind')).toEqual([])
    expect(await itemsOf(service, 'node_unreachable')).toMatchObject([{ id: 'node_unreachable.cluster' }])
    endpoint!.fault = undefined
    await looks()
    expect(await itemsOf(service, 'node_unreachable')).toEqual([])
    await service.stop()
    await cluster.close()
  }, 60_000)

  it('are counted if they disagree about the consensus, or go back to an earlier one', async () => {
    const cluster = await openFaultyCluster(temporaryFolder(), 1)
    const service = await cluster.start()
    const votes = { alpenglow: 2, tower: 1 }
    const { chain } = service.services
    const voting = {
      ...service.services,
      chain: { ...chain, consensus: { ...chain.consensus, votes: async () => votes } },
    }
    const summary = async (counted: Partial<typeof votes>) => {
      Object.assign(votes, counted)
      cluster.clock.advance(5 * MINUTE_MS)
      await lookAtProcess({ services: voting })
      return (await itemsOf(service, 'other_consensus'))[0]?.summary
    }
    expect(await summary({})).toMatch(/disagree about the consensus: 2 report Alpenglow, 1 Tower\.$/)
    expect(await summary({ tower: 0 })).toBeUndefined()
    expect(await summary({ alpenglow: 0, tower: 3 })).toMatch(/report Tower, and the cluster has changed to Alpenglow/)
    await service.stop()
    await cluster.close()
  })
})

describe('a process', () => {
  it('whose disk is filling is named, with what is free', async () => {
    const service = await startService()
    const disk = { free: 2 * 1024 ** 3, size: 100 * 1024 ** 3 }
    const lookAtDisk = () =>
      takeLooks({ ...service.services, measureDisk: async () => disk }, PROCESS_LOOKS, { observer: 'web-1', signal })
    await lookAtDisk()
    const [item] = await itemsOf(service, 'disk_filling')
    expect(item?.summary).toBe('The disk of the data folder of web-1 has 2.0 GiB free of 100.0 GiB.')
    disk.free = 6 * 1024 ** 3
    await lookAtDisk()
    expect(await itemsOf(service, 'disk_filling')).toEqual([])
  })

  it('warns in its log of a look that fails, and takes the others', async () => {
    const service = await startService()
    const warned: object[] = []
    const context = {
      ...service.services,
      log: { ...service.services.log, warn: (fields: object) => void warned.push(fields) },
      measureDisk: () => Promise.reject(new Error('the disk is gone')),
      stalled: () => [{ worker: 'ledger', reason: 'it waits' }],
    }
    await takeLooks(context, PROCESS_LOOKS, { observer: 'web-1', signal })
    expect(warned).toEqual([{ err: new Error('the disk is gone'), kinds: ['disk_filling'] }])
    expect(await itemsOf(service, 'worker_late')).toHaveLength(1)
  })

  it('names its workers that have stalled', async () => {
    const service = await startService()
    const stalled = [{ worker: 'ledger', reason: 'no tick was completed for 95 s: its ticks neither ended nor failed' }]
    const lookAtWorkers = () =>
      takeLooks({ ...service.services, stalled: () => stalled }, PROCESS_LOOKS, { observer: 'web-1', signal })
    await lookAtWorkers()
    const [item] = await itemsOf(service, 'worker_late')
    expect(item?.summary).toMatch(/^The worker ledger of web-1 is late: no tick was completed for 95 s/)
    stalled.pop()
    await lookAtWorkers()
    expect(await itemsOf(service, 'worker_late')).toEqual([])
  })

  it('leaves what another process sees until that has been silent for five minutes', async () => {
    const { services, clock, ...rest } = await startService()
    const service = { services, clock, ...rest }
    const kinds = ['node_unreachable'] as const
    const held = [{ kind: 'node_unreachable' as const, subject: 'endpoint-1', facts: { endpoint: 'a#1', error: null } }]
    const store = (observer: string, seen: typeof held) =>
      services.store.write((tx) => storeLook(tx, { kinds, observer, held: seen, now: clock.now() }))
    await store('web-1', held)
    const [before] = await itemsOf(service, 'node_unreachable')
    clock.advance(MINUTE_MS)
    await store('web-2', [])
    await store('web-1', held)
    expect(await itemsOf(service, 'node_unreachable')).toEqual([before])
    clock.advance(6 * MINUTE_MS)
    await store('web-2', [])
    expect(await itemsOf(service, 'node_unreachable')).toEqual([])
  })
})

describe('secrets', () => {
  it('of a webhook that was rotated are named on the last day of the overlap', async () => {
    const service = await startService()
    const body = { url: 'https://example.com/hook', enabled_events: ['pool.created'] }
    const { json } = await service.request('POST', '/v2/webhook-subscriptions', { body })
    const id = json.data.id as string
    const rotated = await service.request('POST', `/v2/webhook-subscriptions/${id}/secret-rotations`, {
      body: { overlap_hours: 48 },
    })
    expect([rotated.status, rotated.json.error]).toEqual([200, undefined])
    await lookAtProcess(service)
    expect(await itemsOf(service, 'secret_expires')).toEqual([])
    service.clock.advance(25 * HOUR_MS)
    await lookAtProcess(service)
    expect(await itemsOf(service, 'secret_expires')).toMatchObject([
      { id: `secret_expires.${id}`, page: `/console/webhooks/${id}`, ends_at: '2026-06-03T12:00:00.000Z' },
    ])
    service.clock.advance(24 * HOUR_MS)
    await lookAtProcess(service)
    expect(await itemsOf(service, 'secret_expires')).toEqual([])
  })

  it.skipIf(withoutOpenssl() !== undefined)('include certificates that the settings name', async () => {
    const folder = temporaryFolder()
    const { certFile } = makeAuthority(folder, 'client')
    const service = await startService({ clock: { now: () => Date.now(), advance: () => {} } })
    Object.assign(service.services.config.values, { 'postgres.sslcert': certFile })
    await lookAtProcess(service)
    const [item] = await itemsOf(service, 'secret_expires')
    expect(item).toMatchObject({ id: 'secret_expires.postgres.sslcert', command: 'svc config get postgres.sslcert' })
    Object.assign(service.services.config.values, { 'postgres.sslcert': undefined })
    await lookAtProcess(service)
    expect(await itemsOf(service, 'secret_expires')).toEqual([])
  })
})

describe('a key', () => {
  it('is named in the week before it expires, until it is prolonged', async () => {
    const service = await startService()
    const seconds = (days: number) => (days * DAY_MS) / 1000
    const made = { name: 'shop', expires_in: seconds(8) }
    const { status, json } = await service.request('POST', '/v2/api-keys', { body: made })
    expect([status, json.error]).toEqual([201, undefined])
    const { id } = json.data
    expect(await itemsOf(service, 'key_expires')).toEqual([])
    service.clock.advance(2 * DAY_MS)
    expect(await itemsOf(service, 'key_expires')).toMatchObject([
      {
        id: `key_expires.${id}`,
        since: '2026-06-02T12:00:00.000Z',
        ends_at: '2026-06-09T12:00:00.000Z',
        summary: `The key ${id} (shop) expires at 2026-06-09T12:00:00Z.`,
        page: '/console/keys',
      },
    ])
    const body = { expires_in: seconds(90) }
    expect((await service.request('PATCH', `/v2/api-keys/${id}`, { body })).status).toBe(200)
    expect(await itemsOf(service, 'key_expires')).toEqual([])
  })

  it('that is made for three days is named since then', async () => {
    const service = await startService()
    const made = { name: 'guest', expires_in: (3 * DAY_MS) / 1000 }
    expect((await service.request('POST', '/v2/api-keys', { body: made })).status).toBe(201)
    expect(await itemsOf(service, 'key_expires')).toMatchObject([{ since: '2026-06-01T12:00:00.000Z' }])
  })
})

describe('what is stored', () => {
  it('says that the last backup failed, and that the last one is old', async () => {
    const service = await startService()
    const { store } = service.services
    const end = (error: string | null) => store.write((tx) => recordBackup(tx, { at: service.clock.now(), error }))
    await look(service)
    await end(null)
    service.clock.advance(HOUR_MS)
    await end('the backup /mnt/svc cannot be written: the disk is full')
    await look(service)
    expect(await itemsOf(service, 'backup_failed')).toMatchObject([
      { summary: 'The last backup failed: the backup /mnt/svc cannot be written: the disk is full.' },
    ])
    service.clock.advance(7 * DAY_MS)
    await look(service)
    expect(await itemsOf(service, 'backup_old')).toMatchObject([{ since: '2026-06-08T12:00:00.000Z' }])
    await end(null)
    await look(service)
    expect([...(await itemsOf(service, 'backup_failed')), ...(await itemsOf(service, 'backup_old'))]).toEqual([])
  })

  it('names a program with a build that fails, is new, or cannot be run', async () => {
    const service = await startService()
    const { store } = service.services
    const { id } = PROGRAMS.dbc
    const build = {
      id,
      name: 'dbc',
      slot: 5,
      authority: null,
      sha256: 'a'.repeat(64),
      size: 1,
      differences: [],
      fault: null as string | null,
    }
    const key = `${id}:${build.sha256}`
    const act = {
      act: 'claim',
      status: 'failed',
      error: 'no',
      instruction: { program: id, name: 'claim_trading_fee' },
      used: [],
    }
    const put = (acts: object[], fault: string | null = null) => {
      const trials = [{ key, tried_at: 1, acts, error: null }] as never
      const state = { genesis: 'g', looked_at: 1, builds: [{ ...build, fault }], trials: fault === null ? trials : [] }
      return store.write(async (tx) => {
        await tx.deleteFrom('settings').where('name', '=', 'programs').execute()
        await storeProgramState(tx, state)
      })
    }
    const summaries = async () => {
      await look(service)
      return (await itemsOf(service, 'program_changed')).map(({ summary }) => summary)
    }
    await put([act])
    expect(await summaries()).toEqual(['The program dbc has a build with which these acts fail: claim.'])
    await put([{ ...act, status: 'passed' }])
    expect(await summaries()).toEqual([
      'The program dbc has a build that is new to this version; what was tried with it works.',
    ])
    await put([], 'it was closed')
    expect(await summaries()).toEqual(['The program dbc cannot be run by the cluster: it was closed.'])
    await store.write((tx) => tx.deleteFrom('settings').where('name', '=', 'programs').execute())
    expect(await summaries()).toEqual([])
  })
})

describe('records', () => {
  it('that do not verify are named until they do', async () => {
    const service = await startPlatform()
    const { services, clock } = service
    const { store, chain } = services
    expect((await submitMemo(service)).status).toBe(200)
    ;(await chain.local()).advance(20)
    await check(service)
    clock.advance(DAY_MS)
    await followTransactions(services)
    while ((await writeLedger(services)) > 0);
    const rounds = async () => {
      for (let i = 0; i < 4; i++) {
        clock.advance(10 * MINUTE_MS)
        await check(service)
      }
      await look(service)
      return (await itemsOf(service, 'records_broken')).map(({ id }) => id)
    }
    expect(await rounds()).toEqual([])
    const entry = await store.db
      .selectFrom('audit_entries')
      .selectAll()
      .orderBy('sequence')
      .limit(1)
      .executeTakeFirstOrThrow()
    const setDetails = (details_json: string) =>
      store.write((tx) =>
        tx.updateTable('audit_entries').set({ details_json }).where('sequence', '=', entry.sequence).execute(),
      )
    await setDetails('{"scopes":["*"]}')
    clock.advance(DAY_MS)
    expect(await rounds()).toEqual(['records_broken.audit-log'])
    await setDetails(entry.details_json)
    expect(await rounds()).toEqual([])
    const booked = await store.db.selectFrom('ledger_entries').selectAll().limit(1).executeTakeFirstOrThrow()
    const setAmount = (amount: string) =>
      store.write((tx) => tx.updateTable('ledger_entries').set({ amount }).where('seq', '=', booked.seq).execute())
    await setAmount('1')
    expect(await rounds()).toEqual(['records_broken.ledger'])
    expect((await itemsOf(service, 'records_broken'))[0]).toMatchObject({ command: 'svc ledger verify --repair' })
    await setAmount(booked.amount)
    expect(await rounds()).toEqual([])
    const [, event] = await store.db.selectFrom('events').selectAll().orderBy('sequence').execute()
    await store.write((tx) => tx.deleteFrom('events').where('sequence', '=', event!.sequence).execute())
    clock.advance(DAY_MS)
    expect(await rounds()).toEqual(['records_broken.events'])
    expect((await itemsOf(service, 'records_broken'))[0]?.summary).toMatch(
      /does not verify: between 1 and \d+ some are/,
    )
    await store.write((tx) => tx.insertInto('events').values(event!).execute())
    expect(await rounds()).toEqual([])
  }, 60_000)
})
