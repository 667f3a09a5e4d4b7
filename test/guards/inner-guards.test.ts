/** The guard inside what a multisig approves: the vault keeps what was simulated, or the execution fails. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { lacksGuards } from '../support/programs.ts'
import { addressOf, lacksTreasury, SOL, sharedTreasury, type Treasury } from '../support/treasury.ts'

const lacking = lacksTreasury || (lacksGuards ? ' (needs Lighthouse)' : '')

describe.skipIf(lacking)(`a proposal with a guard inside${lacking}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  const transfer = (vault: string, multisig: string, more: object) => ({
    ...{ payer: vault, recipient: addressOf(Keypair.generate()), lamports: String(SOL) },
    approver: { ...at.approver(at.a, multisig), ...more },
  })
  const approved = async (vault: string, multisig: string, more: object = { guard_inside: true }) => {
    const answer = await at.post('/v2/sol-transfers', transfer(vault, multisig, more))
    at.put(answer.proposal, at.a)
    await at.follow()
    for (const each of [at.a, at.b]) await at.step('approvals', answer.proposal.id, each)
    return answer.proposal as { id: string; transactions: [string] }
  }

  it('is executed while the vault keeps what the simulation left it', async () => {
    const { vault, multisig } = await at.createMultisig()
    const { id } = await approved(vault, multisig)
    // What is paid in is no obstacle.
    at.chain.airdrop(vault, SOL)
    await at.step('executions', id, at.a)
    expect(await at.proposalOf(id)).toMatchObject({ status: 'executed' })
    expect(at.lamports(vault)).toBe(100n * SOL)
  })

  it('is not executed after another spend of the vault, as others are, and stays approved', async () => {
    const { vault, multisig } = await at.createMultisig()
    const [guarded, plain, first] = [
      await approved(vault, multisig),
      await approved(vault, multisig, {}),
      await approved(vault, multisig, {}),
    ]
    await at.step('executions', first.id, at.a)
    const { status, error } = await at.ask('POST', `/v2/proposals/${guarded.id}/executions`, {
      member: addressOf(at.a),
    })
    expect([status, error?.details.reason]).toEqual([400, 'execution_fails'])
    expect(error?.message).toContain('a guard inside of it stopped it: 98000000000 >= 99000000000 does not hold')
    await at.step('executions', plain.id, at.a)
    expect(await at.proposalOf(guarded.id)).toMatchObject({ status: 'approved' })
    // Once the vault has it again, it may run.
    at.chain.airdrop(vault, 2n * SOL)
    await at.step('executions', guarded.id, at.a)
    expect(at.lamports(vault)).toBe(99n * SOL)
  })

  it('takes 49 bytes more to propose, and 33 to execute', async () => {
    const { vault, multisig } = await at.createMultisig()
    const sizeOf = (text: string) => Buffer.from(text, 'base64').length
    const sizes = async (more: object) => {
      const { id, transactions } = await approved(vault, multisig, more)
      const { transaction } = await at.post(`/v2/proposals/${id}/executions`, { member: addressOf(at.a), guard: 'off' })
      return [sizeOf(transactions[0]), sizeOf(transaction)] as const
    }
    const [plain, guarded] = [await sizes({}), await sizes({ guard_inside: true })]
    expect([guarded[0] - plain[0], guarded[1] - plain[1]]).toEqual([49, 33])
  })

  it('is refused for a transaction that has guards already', async () => {
    const { vault, multisig } = await at.createMultisig()
    const body = { payer: vault, recipient: addressOf(at.stranger), lamports: String(SOL) }
    const { transaction } = await at.post('/v2/sol-transfers', body)
    const approver = { ...at.approver(at.a, multisig), guard_inside: true }
    const { status, error } = await at.ask('POST', '/v2/proposals', { transaction, approver })
    expect([status, error?.param]).toEqual([400, 'approver.guard_inside'])
  })
})
