/** Fee schedules of a vault: a run proposes what it would otherwise sign, and nothing while a proposal is open. */
import { describe, expect, it } from 'vitest'
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import { setPolicy } from '../support/pool-platform.ts'
import { addressOf, lacksTreasury, SOL, sharedTreasury, type Treasury } from '../support/treasury.ts'

describe.skipIf(lacksTreasury)(`a fee schedule with an approver${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury(async (opened) => {
    at = opened
    await setPolicy(at.service, { lamports_per_transaction: String(SOL), lamports_per_day: String(SOL) })
  })

  it('proposes each claim once, and the next one when the first is executed', async () => {
    const { service, multisig, vault, post, ask, earningPool, follow, carryOut, lamports, platform } = at
    const { pool, trade } = await earningPool()
    const filter = { pools: [pool] }
    const schedule = await post('/v2/fee-schedules', {
      cron: '@hourly',
      filter,
      approver: { kind: 'squads', multisig },
    })
    expect(schedule.approver).toMatchObject({ multisig, vault_index: 0 })
    const runNow = async () => {
      await post(`/v2/fee-schedules/${schedule.id}/runs`)
      for (let i = 0; i < 4; i++) {
        await runFeeSchedules(service.services)
        await follow(1)
      }
      return (await ask('GET', `/v2/fee-schedules/${schedule.id}/runs?limit=1`)).data[0]
    }
    const proposals = async () => (await ask('GET', `/v2/proposals?multisig=${multisig}`)).data
    const first = await runNow()
    expect(first).toMatchObject({ status: 'done', claimed: 0, skips: { proposed: 1 } })
    const [proposal] = await proposals()
    expect(first.skipped[0].message).toContain(proposal.id)
    expect(proposal).toMatchObject({ status: 'active', approver: { member: addressOf(platform) } })

    await trade()
    expect(await runNow()).toMatchObject({ status: 'done', skips: { waiting: 1 } })
    expect(await proposals()).toHaveLength(1)

    const before = lamports(vault)
    await carryOut(proposal.id)
    expect(lamports(vault)).toBeGreaterThan(before)
    expect(await runNow()).toMatchObject({ status: 'done', skips: { proposed: 1 } })
    expect(await proposals()).toHaveLength(2)
  })

  it('is refused with the vault in place of its multisig, which the refusal names', async () => {
    const { service, multisig, vault, post } = at
    const refused = async (method: 'POST' | 'PATCH', path: string) => {
      const body = { cron: '@daily', approver: { kind: 'squads', multisig: vault } }
      const { status, json } = await service.request(method, path, { body })
      expect([status, json.error.param]).toEqual([400, 'approver.multisig'])
      expect(json.error.message).toContain(`${vault} is the vault 0 of the multisig ${multisig}`)
    }
    await refused('POST', '/v2/fee-schedules')
    const { id } = await post('/v2/fee-schedules', { cron: '@daily' })
    await refused('PATCH', `/v2/fee-schedules/${id}`)
  })
})
