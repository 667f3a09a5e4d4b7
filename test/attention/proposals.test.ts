/** Proposals of a multisig that need a person: each state is made with Squads' real program, seen in the list, and left. */
import { instructions } from '@sqds/multisig'
import { describe, expect, it } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import { insertProposal } from '../../src/store/proposals/proposals.ts'
import { START, startService } from '../support/service.ts'
import { addressOf } from '../support/squads.ts'
import { storedProposal } from '../support/stored-proposal.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { listed, only, subjectsOf } from './listed.ts'

describe.skipIf(lacksTreasury)(`proposal_waits${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  it('is listed once it is approved, until it is executed; before, it waits for approvals', async () => {
    const { id } = await at.payment()
    expect(await subjectsOf(at.service, 'approval_waits')).toEqual([id])
    expect((await only(at.service, 'approval_waits')).ends_at).toBeNull()
    await at.step('approvals', id, at.a)
    await at.step('approvals', id, at.b)
    expect(await listed(at.service, 'approval_waits')).toEqual([])
    expect(await only(at.service, 'proposal_waits')).toMatchObject({
      subject: { type: 'proposal', id },
      summary: `The proposal ${id} is approved, and not executed: Send 1 SOL to ${addressOf(at.stranger)}.`,
      command: `svc proposals execute ${id}`,
      page: `/console/proposals/${id}`,
    })
    await at.step('executions', id, at.a)
    expect(await listed(at.service, 'proposal_waits')).toEqual([])
  })

  it('is listed when it is stale, until it is proposed anew or a week has passed', async () => {
    const { a, b } = at
    const [first, second] = [await at.payment(), await at.payment()]
    const config = at.nextIndex()
    at.foreignChange(config, a)
    for (const each of [a, b]) at.foreignVote(config, each, 'proposalApprove')
    const base = { ...at.place(config), member: a.publicKey }
    at.foreign([instructions.configTransactionExecute({ ...base, rentPayer: a.publicKey })], a)
    await at.follow()
    const items = await listed(at.service, 'proposal_waits')
    expect(items.map(({ command }) => command)).toEqual(
      [first, second].map(({ id }) => `svc proposals renew ${id}`).toSorted(),
    )
    expect(items[0]?.summary).toMatch(/^The proposal prp_\w+ is stale: Send 1 SOL to /)
    await at.post(`/v2/proposals/${first.id}/renewals`, { member: addressOf(a) })
    expect(await subjectsOf(at.service, 'proposal_waits')).toEqual([second.id])
    at.service.clock.advance(7 * DAY_MS)
    expect(await listed(at.service, 'proposal_waits')).toEqual([])
  })
})

describe('a proposal that cannot go on', () => {
  it('is listed with the next step of its state', async () => {
    const service = await startService()
    const fault = 'it was changed on chain.'
    const states = [
      [{ status: 'active', fault }, 'is blocked (it was changed on chain)', 'reject'],
      [{ status: 'approved', fault }, 'is blocked (it was changed on chain)', 'cancel'],
      [{ status: 'approved', fault, kind: 'rule' }, 'is blocked (it was changed on chain)', 'execute'],
      [{ status: 'approved', kind: 'rule' }, 'is approved, and not executed', 'execute'],
      [{ status: 'stale', request: null }, 'is stale', 'show'],
    ] as const
    await service.services.store.write(async (tx) => {
      for (const [i, [changes]] of states.entries())
        await insertProposal(tx, storedProposal(i, START, { ...changes, multisig: `m${i}` }))
    })
    // A rule executes what is approved by itself, in a moment.
    expect(await subjectsOf(service, 'proposal_waits')).not.toContain('prp_3')
    service.clock.advance(MINUTE_MS)
    const items = await listed(service, 'proposal_waits')
    expect(items.map(({ summary, command }) => [summary, command])).toEqual(
      states.map(([, state, verb], i) => [
        `The proposal prp_${i} ${state}: Claim fees of a pool.`,
        `svc proposals ${verb} prp_${i}`,
      ]),
    )
  })
})
