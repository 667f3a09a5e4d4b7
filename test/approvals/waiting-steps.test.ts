/** Steps of the platform wallet that need approvals: about a multisig's proposal, and the transfer of an authority. */
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { approversOf, decide, type Person } from '../support/approvers.ts'
import { addressOf, lacksTreasury, SOL, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { keypairOf } from '../support/wallets.ts'

describe.skipIf(lacksTreasury)(`a step that always waits${lacksTreasury}`, () => {
  let at: Treasury
  let people: Person[]
  sharedTreasury(async (opened) => {
    at = opened
    const limits = { lamports_per_transaction: String(100n * SOL), lamports_per_day: String(200n * SOL) }
    const { json } = await at.service.request('GET', '/v2/signer')
    const programs = [...json.data.policy.programs, PROGRAMS.squads.id]
    expect(
      (await at.service.request('PATCH', '/v2/signer/policy', { body: { ...limits, programs, guards: 'required' } }))
        .status,
    ).toBe(200)
    const operations = ['proposal.approve', 'proposal.execute', 'token_authority.transfer']
    people = await approversOf(at.service, 1, { authority: true, operations })
  })

  const approve = async (proposal: Parameters<typeof decide>[1]) => {
    const [ada] = people as [Person]
    return (await decide(at.service, proposal, ada)).json.data.proposal
  }
  /** A payment of a multisig in which the platform wallet may do everything. */
  const payment = async () => {
    const { id } = await at.payment(await at.createMultisig({ platform: 'ivx' }))
    return id
  }
  const signed = async (verb: string, id: string) => at.ask('POST', `/v2/proposals/${id}/${verb}`, { mode: 'signed' })

  it("is the platform wallet's vote about a multisig's proposal, and the execution of it", async () => {
    const id = await payment()
    const before = at.lamports(addressOf(at.stranger))
    for (const [verb, operation, words] of [
      ['approvals', 'proposal.approve', `Approve a proposal of a multisig (${id}): `],
      ['executions', 'proposal.execute', `Execute a proposal of a multisig (${id}): `],
    ] as const) {
      const asked = await signed(verb, id)
      expect([asked.status, asked.data?.mode], JSON.stringify(asked.error)).toEqual([202, 'proposed'])
      const { proposal } = asked.data
      expect(proposal).toMatchObject({ operation, approver: { rules: ['operation'] } })
      expect(proposal.what.startsWith(words), proposal.what).toBe(true)
      await at.follow()
      expect((await at.proposalOf(id)).decisions).toHaveLength(verb === 'approvals' ? 0 : 2)
      expect(await approve(proposal)).toMatchObject({ status: 'executed' })
      await at.follow()
      if (verb === 'approvals') await at.step('approvals', id, at.a)
    }
    expect(await at.proposalOf(id)).toMatchObject({ status: 'executed' })
    expect(at.lamports(addressOf(at.stranger)) - before).toBe(SOL)
  })

  it('is not signed if the execution would fail by the time it is approved', async () => {
    const { vault, multisig } = await at.createMultisig({ platform: 'ivx' })
    const body = { payer: vault, recipient: addressOf(at.stranger), lamports: String(60n * SOL) }
    const approved = async () => {
      const { proposal } = await at.post('/v2/sol-transfers', { ...body, approver: at.approver(at.a, multisig) })
      at.put(proposal, at.a)
      await at.follow()
      for (const each of [at.a, at.b]) await at.step('approvals', proposal.id, each)
      return proposal.id as string
    }
    const [first, second] = [await approved(), await approved()]
    const { data } = await signed('executions', second)
    // The vault has enough for one of them.
    await at.step('executions', first, at.a)
    expect(await approve(data.proposal)).toMatchObject({ status: 'approved', signature: null })
    const again = await at.ask('POST', `/v2/proposals/${data.proposal.id}/executions`)
    expect([again.status, again.error.details.reason]).toEqual([400, 'execution_fails'])
  })

  it("is the transfer of a token's authority", async () => {
    const { platform, stranger, landed, chain } = at
    const token = { name: 'Own', symbol: 'OWN', initial_supply: '10', uri: 'https://example.com/t.json' }
    const created = await at.post('/v2/tokens', { payer: addressOf(platform), ...token })
    landed(created.transaction, platform, keypairOf(created.required_signers.mint_secret_key))
    const asked = await at.ask('PUT', `/v2/tokens/${created.mint}/authorities/mint`, {
      ...{ payer: addressOf(platform), new_authority: addressOf(stranger), mode: 'signed' },
    })
    expect([asked.status, asked.data?.mode], JSON.stringify(asked.error)).toEqual([202, 'proposed'])
    const { proposal } = asked.data
    expect(proposal).toMatchObject({
      operation: 'token_authority.transfer',
      approver: { rules: ['authority', 'operation'] },
    })
    expect(proposal.what).toContain(`Give away an authority of a token (${created.mint}): `)
    const authority = () => new PublicKey(chain.account(created.mint)!.data.subarray(4, 36)).toBase58()
    const before = authority()
    expect(await approve(proposal)).toMatchObject({ status: 'executed' })
    await at.follow()
    expect([before, authority()]).toEqual([addressOf(platform), addressOf(stranger)])
  })
})
