/** Acts of the real programs that wait: a launch with its generated keys, and the claims of a fee schedule. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createSchedule, creator, eventsOf, runsOf, scheduleSetting, trader } from '../fee-schedules/setting.ts'
import { approversOf, decide, type Person } from '../support/approvers.ts'
import { SOL } from '../support/local-chain.ts'
import {
  addressOf,
  type ChainAndNode,
  IMAGE,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
  RICH,
  setPolicy,
} from '../support/pool-platform.ts'

describe.skipIf(lackingPrograms.length > 0)(`an act that waits (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  let at: ReturnType<typeof scheduleSetting>

  beforeAll(async () => {
    base = await openChainAndNode()
    at = scheduleSetting(base)
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 10_000n * SOL)
    base.clock.advance(1_000)
  })
  afterAll(() => base?.close())

  async function started(): Promise<Platform> {
    const platform = await openPlatform(base)
    onTestFinished(() => platform.close())
    await setPolicy(platform, RICH)
    return platform
  }
  const open = async ({ request }: Platform) => (await request('GET', '/v2/proposals?status=active')).json.data

  it('can be a launch: its record and its event come once, when it is executed, with the keys of the proposal', async () => {
    const platform = await started()
    const people = (await approversOf(platform, 2, { operations: ['pool.create'] })) as [Person, Person]
    const { address } = (await platform.request('GET', '/v2/signer')).json.data
    const body = { creator: address, name: 'A token', symbol: 'WAIT', image: IMAGE, preset: 'tiny', mode: 'signed' }
    const headers = { 'idempotency-key': 'launch' }
    const waiting = await platform.request('POST', '/v2/pools', { body, headers })
    expect(waiting.status, waiting.text).toBe(202)
    const { proposal } = waiting.json.data
    expect(proposal).toMatchObject({ operation: 'pool.create', tracked_resource: { resource_type: 'pool' } })
    const pool = proposal.tracked_resource.resource_id
    expect((await platform.request('GET', '/v2/pools')).json.data).toEqual([])
    expect(await eventsOf(platform, 'pool.created')).toEqual([])
    // Longer than a blockhash lives.
    base.clock.advance(600_000)
    for (const who of people) {
      const { status, text } = await decide(platform, proposal, who)
      expect(status, text).toBe(200)
    }
    const done = (await platform.request('GET', `/v2/proposals/${proposal.id}`)).json.data
    expect(done, done.fault).toMatchObject({ status: 'executed', fault: null })
    expect((await platform.request('GET', '/v2/pools')).json.data).toMatchObject([{ address: pool, symbol: 'WAIT' }])
    expect(await eventsOf(platform, 'pool.created')).toHaveLength(1)
    expect(base.chain.account(pool)).not.toBeNull()
    const plans = await platform.services.store.db.selectFrom('signings').select(['plan', 'state']).execute()
    expect(plans.every(({ plan, state }) => plan === null && state === 'signed')).toBe(true)
    expect((await platform.request('POST', '/v2/pools', { body, headers })).json.data.proposal.id).toBe(proposal.id)
  })

  it('can be the claim of a schedule: one proposal whatever the number of its runs, and the split as approved', async () => {
    const platform = await started()
    const { address } = await at.launch(platform, 'FEES')
    await at.trade(platform, address)
    const [ada] = (await approversOf(platform, 1, { operations: ['fee_claim.create'] })) as [Person]
    const splits = [creator, trader].map((key) => ({ recipient: addressOf(key), bps: 5_000 }))
    const schedule = await createSchedule(platform, { splits, filter: { pools: [address] } })
    for (let run = 0; run < 3; run++) {
      at.nextHour()
      for (let i = 0; i < 2; i++) await at.round(platform.services)
    }
    const proposals = await open(platform)
    expect(proposals).toHaveLength(1)
    const [proposal] = proposals
    expect(proposal).toMatchObject({ operation: 'fee_claim.create', asked_by: 'worker:fee-schedules' })
    const runs = await runsOf(platform, schedule)
    expect(runs).toHaveLength(3)
    for (const run of runs) {
      expect(run).toMatchObject({ status: 'done', claimed: 0, skips: { proposed: 1 } })
      expect(run.skipped[0].message).toBe(`It waits for approvals: svc proposals show ${proposal.id}`)
    }
    await decide(platform, proposal, ada)
    const done = (await platform.request('GET', `/v2/proposals/${proposal.id}`)).json.data
    expect(done, done.fault).toMatchObject({ status: 'executed', fault: null })
    await at.round(platform.services)
    const claims = (await platform.request('GET', `/v2/pools/${address}/fee-claims`)).json.data
    expect(claims).toHaveLength(1)
    // What came in later makes another proposal.
    await at.trade(platform, address)
    at.nextHour()
    for (let i = 0; i < 2; i++) await at.round(platform.services)
    expect(await open(platform)).toHaveLength(1)
  })
})
