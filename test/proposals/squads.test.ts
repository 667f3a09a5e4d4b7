/** Acts of a vault over HTTP, from the build to the record: 2 of 3 members of a multisig on the real programs. */
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { instructions } from '@sqds/multisig'
import { describe, expect, it, vi } from 'vitest'
import { innerInstructions } from '../../src/chain/programs/squads/execution-rehearsal.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { transactionBufferAddress, vaultAddress } from '../../src/solana/squads/index.ts'
import { unpackMessage } from '../../src/store/proposals/proposals.ts'
import { airdropsOn, claimBody, createBody, entriesFor } from '../support/airdrops.ts'
import { V1_CONFIG } from '../support/local-chain.ts'
import { transfer } from '../support/local-chain-transactions.ts'
import { IMAGE } from '../support/pool-platform.ts'
import { itInSoak } from '../support/runs.ts'
import { keyOf } from '../support/squads.ts'
import { addressOf, lacksTreasury, SOL, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { signWith } from '../support/wallets.ts'

describe.skipIf(lacksTreasury)(`a proposal${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  const refused = async (verb: string, id: string, by?: Keypair) => {
    const body = by === undefined ? {} : { member: addressOf(by) }
    const { status, error } = await at.ask('POST', `/v2/proposals/${id}/${verb}`, body)
    return { status, ...error }
  }

  /** Payments of the vault as one unsigned transaction, of version 1 for its size. */
  const paid = (keys: readonly PublicKey[]) => {
    const from = { fromPubkey: keyOf(at.vault), lamports: 1_000_000 }
    const { transaction } = compileTransaction({
      payer: keyOf(at.vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: keys.map((toPubkey) => SystemProgram.transfer({ ...from, toPubkey })),
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    return Buffer.from(transaction).toString('base64')
  }

  it('of a transfer waits for two members, is executed once, and pays exactly', async () => {
    const { stranger, proposalOf, carryOut, lamports, a, ask } = at
    const recipient = addressOf(stranger)
    const before = lamports(recipient)
    const { id } = await at.payment()
    expect(await proposalOf(id)).toMatchObject({
      ...{ status: 'active', what: `Send 1 SOL to ${recipient}`, needed: 2, decisions: [], fault: null },
      ...{ next: `Approve it: svc proposals approve ${id}`, approver: { vault: at.vault, member: addressOf(a) } },
    })
    const { data: forecast } = await ask('GET', `/v2/proposals/${id}/forecast`)
    expect(forecast).toMatchObject({ failed: null, changes: [] })
    expect(forecast.balance_changes).toContainEqual(
      expect.objectContaining({ address: recipient, change: String(SOL) }),
    )
    await carryOut(id)
    const after = await proposalOf(id)
    expect(after).toMatchObject({
      status: 'executed',
      fault: null,
      next: `Reclaim its rent: svc proposals reclaim ${id}`,
    })
    expect(after.signature).not.toBeNull()
    expect(after.decisions).toHaveLength(2)
    expect(lamports(recipient) - before).toBe(SOL)
    expect(await refused('executions', id, a)).toMatchObject({ status: 400, code: 'bad_request' })
    expect(lamports(recipient) - before).toBe(SOL)
  })

  it('returns its rent to the rent collector, and says how much', async () => {
    const { post, landed, lamports, a, b, proposalOf, carryOut, follow } = at
    const { id } = await at.payment()
    expect(await refused('reclaims', id, b)).toMatchObject({ status: 400, message: expect.stringContaining('active') })
    await carryOut(id)
    const { transaction, returns } = await post(`/v2/proposals/${id}/reclaims`, { member: addressOf(b) })
    expect(returns.to).toBe(addressOf(a))
    const before = lamports(addressOf(a))
    landed(transaction, b)
    expect(lamports(addressOf(a)) - before).toBe(BigInt(returns.lamports))
    await follow()
    const closed = await proposalOf(id)
    expect(closed).toMatchObject({ status: 'executed', next: null })
    expect(closed.reclaimed_at).not.toBeNull()
  })

  it('that was given up leaves a buffer, whose rent returns once its transactions can no longer land', async () => {
    const { post, landed, lamports, a, b, approver, ask, service } = at
    const to = Array.from({ length: 24 }, () => keyOf(addressOf(Keypair.generate())))
    const left: { id: string; transactions: string[] } = (
      await post('/v2/proposals', { transaction: paid(to), approver: approver() })
    ).proposal
    landed(left.transactions[0]!, a)
    expect(await refused('reclaims', left.id, a)).toMatchObject({
      status: 400,
      message: expect.stringMatching(new RegExp(`is filled for the proposal ${left.id}: run its command again`)),
    })
    expect(await refused('reclaims', left.id, b)).toMatchObject({
      status: 400,
      message: expect.stringMatching('no buffer'),
    })

    // A second plan, which is still on its way, keeps its buffer.
    service.clock.advance(11 * 60_000)
    const going = (await post('/v2/proposals', { transaction: paid(to.slice(1)), approver: approver() })).proposal
    landed(going.transactions[0], a)
    const held = lamports(transactionBufferAddress(at.multisig, addressOf(a), 0))
    const answer = await post(`/v2/proposals/${left.id}/reclaims`, { member: addressOf(a) })
    expect([answer.buffers, answer.returns]).toEqual([
      [{ address: transactionBufferAddress(at.multisig, addressOf(a), 0), buffer_index: 0, lamports: String(held) }],
      undefined,
    ])
    const before = lamports(addressOf(a))
    landed(answer.transaction, a)
    expect(lamports(addressOf(a)) - before).toBe(held - 5_000n)
    for (const text of going.transactions.slice(1)) landed(text, a)
    await at.follow()
    expect(await at.proposalOf(going.id)).toMatchObject({ status: 'active' })
    await ask('POST', `/v2/proposals/${going.id}/rejections`, { member: addressOf(b) })
  })

  it('of a launch with a first buy makes its pool live with one event', async () => {
    const { vault, post, approver, put, a, follow, proposalOf, carryOut, events, ask } = at
    const body = { creator: vault, name: 'Vault Token', symbol: 'VLT', image: IMAGE, buy_amount: 1 }
    const chosen = { base_mint: addressOf(Keypair.generate()), approver: approver() }
    expect((await ask('POST', '/v2/pools', { ...body, ...chosen })).error).toMatchObject({
      param: 'base_mint',
      message: expect.stringContaining('a vault makes its mints itself'),
    })
    const data = await post('/v2/pools', { ...body, approver: approver() })
    expect(data.required_signers).toEqual({ base_mint_secret_key: [], config_secret_key: [] })
    put(data.proposal, a)
    await follow()
    await carryOut(data.proposal.id)
    expect(await proposalOf(data.proposal.id)).toMatchObject({ status: 'executed', fault: null })
    await follow(4)
    const { data: pool } = await ask('GET', `/v2/pools/${data.pool.address}`)
    expect(pool).toMatchObject({ status: 'live', creator: vault })
    expect(await events('pool.live')).toHaveLength(1)
  })

  it.each([
    [6, 1],
    [10, 2],
  ])('of a claim with %d splits takes at least %d transactions and pays each', async (count, transactions) => {
    const { earningPool, splitsTo, vault, post, approver, put, a, follow, carryOut, lamports, ask, proposalOf } = at
    const { pool } = await earningPool()
    const splits = splitsTo(count)
    const body = { payer: vault, splits, approver: approver() }
    const data = await post(`/v2/pools/${pool}/fee-claims`, body)
    expect(data.proposal.transactions.length).toBeGreaterThanOrEqual(transactions)
    const before = splits.map(({ recipient }) => lamports(recipient))
    put(data.proposal, a)
    await follow()
    await carryOut(data.proposal.id)
    expect(await proposalOf(data.proposal.id)).toMatchObject({ status: 'executed', fault: null })
    const paid = splits.map(({ recipient }, i) => lamports(recipient) - before[i]!)
    expect(paid.reduce((sum, each) => sum + each, 0n)).toBe(BigInt(data.estimated_quote))
    await follow()
    const { data: claims } = await ask('GET', `/v2/pools/${pool}/fee-claims`)
    expect(claims).toHaveLength(1)
  })

  it('of a claim is one at a time, and is refused once somebody else has taken the fees', async () => {
    const { earningPool, splitsTo, vault, post, approver, put, a, b, follow, step, carryOut, lamports, ask } = at
    const { pool, trade } = await earningPool()
    const path = `/v2/pools/${pool}/fee-claims`
    const splits = splitsTo(2)
    const first = await post(path, { payer: vault, splits, approver: approver() })
    put(first.proposal, a)
    await follow()
    const second = await ask('POST', path, { payer: vault, splits, approver: approver() })
    expect(second.error).toMatchObject({ details: { reason: 'proposal_open', proposal: first.proposal.id } })

    // Two plans for the same fees: what was planned before the first one was on the chain.
    await step('approvals', first.proposal.id, a)
    await step('approvals', first.proposal.id, b)
    await step('executions', first.proposal.id, b)
    await trade()
    const third = await post(path, { payer: vault, splits, approver: approver() })
    put(third.proposal, a)
    await follow()
    await step('approvals', third.proposal.id, a)
    await step('approvals', third.proposal.id, b)
    const claim = await post('/v2/proposals', {
      approver: approver(),
      transaction: (await ask('GET', `/v2/proposals/${third.proposal.id}`)).data.transaction,
    })
    put(claim.proposal, b, a)
    await follow()
    await carryOut(claim.proposal.id)
    const before = splits.map(({ recipient }) => lamports(recipient))
    expect(await refused('executions', third.proposal.id, a)).toMatchObject({
      ...{ status: 400, details: { reason: expect.stringMatching(/changed|execution_fails/) } },
      message: expect.stringContaining(`svc proposals cancel ${third.proposal.id}`),
    })
    expect(splits.map(({ recipient }) => lamports(recipient))).toEqual(before)
  })

  it('of a claim is one at a time, also if two are made at once', async () => {
    const { service, earningPool, splitsTo, vault, multisig, post, approver, put, a, follow, ask } = at
    const { pool } = await earningPool()
    const path = `/v2/pools/${pool}/fee-claims`
    const limits = { lamports_per_transaction: String(SOL), lamports_per_day: String(SOL) }
    expect((await service.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
    const signed = () =>
      ask('POST', path, { payer: vault, splits: splitsTo(2), mode: 'signed', approver: { kind: 'squads', multisig } })
    const answers = await Promise.all([signed(), signed()])
    const [made, late] = answers.toSorted((one, other) => one.status - other.status)
    expect([made?.status, late?.status]).toEqual([200, 400])
    expect(late?.error.details).toEqual({ reason: 'proposal_open', proposal: made?.data.proposal.id })

    // One for a member is on the chain by the time at which another is stored.
    const { pool: other } = await earningPool()
    const ofMember = () => ({ payer: vault, splits: splitsTo(2), approver: approver() })
    const first = await post(`/v2/pools/${other}/fee-claims`, ofMember())
    const { chain } = service.services
    const call = chain.call.bind(chain)
    const spy = vi.spyOn(chain, 'call').mockImplementation((async (method: string, ...rest: unknown[]) => {
      if (method === 'simulateTransaction') {
        spy.mockRestore()
        put(first.proposal, a)
        await follow()
      }
      return (call as (...all: unknown[]) => unknown)(method, ...rest)
    }) as never)
    const second = await ask('POST', `/v2/pools/${other}/fee-claims`, ofMember())
    expect(second.error?.details).toEqual({ reason: 'proposal_open', proposal: first.proposal.id })
  })

  itInSoak(
    'that cannot be tried when it is made is compared with its first trial, and never executed unseen',
    async () => {
      const { service, chain, earningPool, vault, stranger, approver, post, put, a, b, follow, step, ask } = at
      const { store } = service.services
      const rowOf = (id: string) => store.db.selectFrom('proposals').selectAll().where('id', '=', id).executeTakeFirst()
      /** A purchase with a payment that the vault cannot make yet. */
      const unpayable = async (pool: string) => {
        const order = { payer: vault, side: 'buy', amount: String(SOL), slippage_bps: 5_000, approver: approver() }
        const bought = (await post(`/v2/pools/${pool}/swaps`, order)).proposal
        const { stored_message } = (await rowOf(bought.id))!
        const payer = { publicKey: keyOf(vault) } as Keypair
        const payment = transfer(payer, stranger.publicKey, Number(at.lamports(vault) + 100n * SOL))
        const message = new TransactionMessage({
          payerKey: keyOf(vault),
          recentBlockhash: PublicKey.default.toBase58(),
          instructions: [...(await innerInstructions(unpackMessage(stored_message!))), payment],
        })
        const transaction = Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize())
        const { proposal } = await post('/v2/proposals', {
          approver: approver(),
          transaction: transaction.toString('base64'),
        })
        put(proposal, a)
        await follow()
        expect((await ask('GET', `/v2/proposals/${proposal.id}/forecast`)).data.failed).not.toBeNull()
        expect((await rowOf(proposal.id))?.forecast_json).toBeNull()
        return proposal
      }

      const { pool, trade } = await earningPool()
      const { id, transaction_index: index } = await unpayable(pool)
      for (const by of [a, b]) at.foreignVote(index, by, 'proposalApprove')
      await follow()
      chain.airdrop(vault, 1_000n * SOL)
      expect(await refused('executions', id, a)).toMatchObject({
        ...{ status: 400, message: expect.stringContaining(`svc proposals show ${id}`) },
        details: {
          reason: 'not_seen',
          balance_changes: expect.arrayContaining([expect.objectContaining({ address: vault })]),
        },
      })
      // It would get fewer tokens, though not fewer than the purchase permits.
      await trade()
      expect(await refused('executions', id, a)).toMatchObject({ status: 400, details: { reason: 'changed' } })

      const { pool: second } = await earningPool()
      const approved = await unpayable(second)
      await step('approvals', approved.id, a)
      expect((await rowOf(approved.id))?.forecast_json).toBeNull()
      chain.airdrop(vault, 2_000n * SOL)
      await step('approvals', approved.id, b)
      expect((await rowOf(approved.id))?.forecast_json).not.toBeNull()
      await step('executions', approved.id, a)
      expect(await at.proposalOf(approved.id)).toMatchObject({ status: 'executed' })
    },
  )

  it('of a revocation is recorded with its event', async () => {
    const { vault, post, approver, put, a, follow, carryOut, events, ask } = at
    const token = { name: 'Plain', symbol: 'PLN', initial_supply: '1000', uri: 'https://example.com/t.json' }
    const created = await post('/v2/tokens', { payer: vault, ...token, approver: approver() })
    put(created.proposal, a)
    await follow()
    await carryOut(created.proposal.id)
    await follow()
    const revoked = await ask('DELETE', `/v2/tokens/${created.mint}/authorities/mint`, {
      ...{ payer: vault, approver: approver() },
    })
    expect(revoked.error).toBeUndefined()
    put(revoked.data.proposal, a)
    await follow()
    await carryOut(revoked.data.proposal.id)
    await follow()
    expect(await events('token.created')).toHaveLength(1)
    expect(await events('token.mint_authority_revoked')).toHaveLength(1)
    expect((await ask('GET', `/v2/tokens/${created.mint}`)).data.status).toBe('mint_authority_revoked')
  })

  it('is refused to who may not decide, and to who has decided', async () => {
    const { platform, stranger, a, b, step } = at
    const { id } = await at.payment()
    for (const [by, words] of [
      [platform, 'may not vote'],
      [stranger, 'is not a member'],
    ] as const) {
      expect(await refused('approvals', id, by)).toMatchObject({ status: 400, param: 'member' })
      expect((await refused('approvals', id, by)).message).toContain(words)
    }
    await step('approvals', id, a)
    expect(await refused('approvals', id, a)).toMatchObject({ status: 400, param: 'member' })
    expect((await refused('executions', id, a)).message).toContain('is active, not approved')
    await step('approvals', id, b)
    expect(await refused('executions', id, platform)).toMatchObject({ status: 400, param: 'member' })
  })

  it('to a vault instead of its multisig is refused with the multisig, if that is known', async () => {
    const { vault, multisig, approver, ask } = at
    await at.plan()
    const body = { payer: vault, recipient: addressOf(at.stranger), lamports: '1' }
    const asked = (address: string) => ask('POST', '/v2/sol-transfers', { ...body, approver: approver(at.a, address) })
    expect((await asked(vault)).error).toMatchObject({
      ...{ code: 'bad_request', param: 'approver.multisig', details: { multisig, vault_index: 0 } },
      message: expect.stringContaining(`${vault} is the vault 0 of the multisig ${multisig}: send ${multisig}`),
    })
    const unknown = vaultAddress(addressOf(Keypair.generate()), 0)
    expect((await asked(unknown)).error).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('may be the vault of one that is not known here'),
    })
    expect((await ask('GET', `/v2/multisigs/${vault}`)).data).toMatchObject({
      address: multisig,
      vault,
      vault_index: 0,
    })
  })

  it('that is built for another wallet than the vault, or by another than a proposer, is refused', async () => {
    const { ask, approver, a, stranger, vault } = at
    const body = { payer: addressOf(a), recipient: addressOf(stranger), lamports: '1000000' }
    const wrongPayer = await ask('POST', '/v2/sol-transfers', { ...body, approver: approver() })
    expect(wrongPayer.error).toMatchObject({ param: 'approver', details: { vault } })
    const wrongMember = await ask('POST', '/v2/sol-transfers', { ...body, payer: vault, approver: approver(stranger) })
    expect(wrongMember.error).toMatchObject({ param: 'approver.member' })
    const none = await ask('POST', '/v2/sol-transfers', {
      ...{ ...body, payer: vault, approver: { kind: 'squads', multisig: addressOf(stranger) } },
    })
    expect([none.status, none.error.param]).toEqual([404, 'approver.multisig'])
  })

  it('of which two have the same number: one reaches the chain, the other says so', async () => {
    const { vault, post, approver, put, a, b, follow, stranger, proposalOf } = at
    const body = { payer: vault, recipient: addressOf(stranger) }
    const one = await post('/v2/sol-transfers', { ...body, lamports: '1000000', approver: approver(a) })
    const two = await post('/v2/sol-transfers', { ...body, lamports: '2000000', approver: approver(b) })
    expect(one.proposal.transaction_index).toBe(two.proposal.transaction_index)
    put(two.proposal, b)
    await follow()
    expect(await proposalOf(two.proposal.id)).toMatchObject({ status: 'active', fault: null })
    expect(await proposalOf(one.proposal.id)).toMatchObject({ status: 'expired' })
    expect((await proposalOf(one.proposal.id)).fault).toContain('was taken by')
    expect(await refused('approvals', one.proposal.id, b)).toMatchObject({ status: 400 })
  })

  it('whose number somebody else took with other amounts is never approved', async () => {
    const { vault, post, approver, a, follow, stranger, proposalOf, multisig } = at
    const recipient = addressOf(stranger)
    const plan = await post('/v2/sol-transfers', {
      payer: vault,
      recipient,
      lamports: '1000000',
      approver: approver(a),
    })
    const index = plan.proposal.transaction_index
    at.foreignProposal(index, a, 900_000_000)
    await follow()
    expect(await proposalOf(plan.proposal.id)).toMatchObject({ status: 'expired' })
    expect((await proposalOf(plan.proposal.id)).fault).toContain('has other data')
    expect(await refused('approvals', plan.proposal.id, a)).toMatchObject({
      ...{ status: 400, message: expect.stringContaining('is not what was planned') },
    })
    const imported = await post('/v2/proposals/imports', { multisig, transaction_index: index })
    expect(imported).toMatchObject({ status: 'active', asked_by: null, fault: null })
  })

  it("is approved and executed by Squads' own client, and recorded once", async () => {
    const { a, b, follow, proposalOf, lamports, stranger, service } = at
    const before = lamports(addressOf(stranger))
    const { id, transaction_index: index } = await at.payment()
    for (const by of [a, b]) at.foreignVote(index, by, 'proposalApprove')
    await follow()
    expect(await proposalOf(id)).toMatchObject({ status: 'approved' })
    at.foreign([await at.foreignExecution(index, b)], b)
    await follow()
    const done = await proposalOf(id)
    expect(done).toMatchObject({ status: 'executed', fault: null })
    expect(done.signature).not.toBeNull()
    expect(lamports(addressOf(stranger)) - before).toBe(SOL)
    const { json } = await service.request('GET', `/v2/transactions/${done.signature}`)
    expect(json.data.lifecycle).toMatch(/confirmed|finalized/)
  })

  it("that Squads' own client made is imported, approved and executed here", async () => {
    const { c, post, carryOut, proposalOf, lamports, stranger, multisig, ask } = at
    const before = lamports(addressOf(stranger))
    const index = at.nextIndex()
    at.foreignProposal(index, c, 7_000_000)
    const unknown = await ask('POST', '/v2/proposals/imports', { multisig, transaction_index: '9999' })
    expect([unknown.status, unknown.error.param]).toEqual([404, 'transaction_index'])
    const made = await post('/v2/proposals/imports', { multisig, transaction_index: index })
    expect(made).toMatchObject({ status: 'active', approver: { member: addressOf(c) } })
    expect((await post('/v2/proposals/imports', { multisig, transaction_index: index })).id).toBe(made.id)
    await carryOut(made.id)
    expect(await proposalOf(made.id)).toMatchObject({ status: 'executed' })
    expect(lamports(addressOf(stranger)) - before).toBe(7_000_000n)
  })

  it('is rejected, and is cancelled after its approval', async () => {
    const { a, b, step, proposalOf } = at
    const rejected = await at.payment()
    await step('rejections', rejected.id, a)
    await step('rejections', rejected.id, b)
    expect(await proposalOf(rejected.id)).toMatchObject({ status: 'rejected' })
    const cancelled = await at.payment()
    await step('approvals', cancelled.id, a)
    await step('approvals', cancelled.id, b)
    await step('cancellations', cancelled.id, a)
    await step('cancellations', cancelled.id, b)
    expect(await proposalOf(cancelled.id)).toMatchObject({ status: 'cancelled' })
    expect(await refused('executions', cancelled.id, a)).toMatchObject({ status: 400 })
  })

  it('waits for the time lock of its multisig', async () => {
    const { createMultisig, a, b, step, follow, chain } = at
    const of = await createMultisig({ timeLock: 3_600 })
    const { id } = await at.payment(of)
    await step('approvals', id, a)
    await step('approvals', id, b)
    expect(await refused('executions', id, a)).toMatchObject({ status: 400, details: { reason: 'time_lock' } })
    chain.advance(4_000)
    await follow()
    await step('executions', id, a)
    expect(await at.proposalOf(id)).toMatchObject({ status: 'executed' })
  })

  itInSoak('of each of three airdrops in a row, and of a withdrawal, moves every token once', async () => {
    const { service, vault, post, approver, put, a, follow, carryOut, proposalOf, multisig } = at
    const all = await airdropsOn(service)
    const mint = all.mintFor(vault, 10_000n)
    const claimer = all.wallet()
    const parts: { id: string; proposal: { id: string; transaction_index: string } }[] = []
    for (const part of [0, 1, 2]) {
      const tree = await all.storeTree(
        mint,
        entriesFor([claimer], () => 1_000n),
        part,
      )
      const body = createBody(vault, mint, tree.root, { fund_amount: '1000', airdrop_count: part })
      const { proposal } = await post('/v2/airdrops', { ...body, approver: approver() })
      put(proposal, a)
      await follow()
      parts.push({ id: tree.id, proposal })
    }
    const numbers = parts.map(({ proposal }) => Number(proposal.transaction_index))
    expect(numbers).toEqual([0, 1, 2].map((i) => numbers[0]! + i))
    for (const { proposal } of parts) {
      const { expires_at, status } = await proposalOf(proposal.id)
      expect(status).toBe('active')
      // It can be executed until the start of its airdrop, days from now.
      expect(Date.parse(expires_at) - service.clock.now()).toBeGreaterThan(10 * 86_400_000)
    }
    for (const { proposal } of parts) {
      await carryOut(proposal.id)
      expect(await proposalOf(proposal.id)).toMatchObject({ status: 'executed', fault: null })
    }
    const ids = parts.map(({ id }) => id)
    expect(all.tokensOf(mint, vault)).toBe(7_000n)
    await follow()
    for (const id of ids) expect(await all.eventsOf(id)).toContain('airdrop.initialized')
    const claim = await post(`/v2/airdrops/${ids[2]}/claims`, claimBody(claimer))
    await all.submit(claim, claimer)
    expect(all.tokensOf(mint, claimer)).toBe(1_000n)
    // The clawback is 30 days after the start, which is 14 days after the proposal.
    all.pass(45 * 86_400)
    const path = `/v2/airdrops/${ids[0]}/vault-withdrawals`
    const { proposal } = await post(path, { amount: '1000', approver: approver(a, multisig) })
    put(proposal, a)
    await follow()
    await carryOut(proposal.id)
    await follow()
    expect(all.tokensOf(mint, vault)).toBe(8_000n)
    expect((await all.eventsOf(ids[0]!)).filter((type) => type === 'airdrop.vault_drained')).toHaveLength(1)
  })

  it('that no transaction of the asked version could execute is refused; a larger version carries it out', async () => {
    const { ask, post, put, step, landed, lamports, follow, proposalOf, approver, a, b } = at
    const to = Array.from({ length: 30 }, () => Keypair.generate().publicKey)
    const body = { transaction: paid(to), approver: approver() }
    expect((await ask('POST', '/v2/proposals', body)).error).toMatchObject({
      code: 'bad_request',
      param: 'approver',
      message: expect.stringContaining(
        'would be larger than the chain takes: do less in one request, or send tx_version 1',
      ),
      details: { reason: 'execution_too_large' },
    })
    const { proposal } = await post('/v2/proposals', { ...body, tx_version: 1 })
    put(proposal, a)
    await follow()
    for (const member of [a, b]) await step('approvals', proposal.id, member)
    const { transaction } = await post(`/v2/proposals/${proposal.id}/executions`, {
      member: addressOf(a),
      tx_version: 1,
    })
    landed(transaction, a)
    await follow()
    expect(await proposalOf(proposal.id)).toMatchObject({ status: 'executed' })
    for (const key of to) expect(lamports(key.toBase58())).toBe(1_000_000n)
  })

  it('of an instruction that the program cannot store is refused as a bad request', async () => {
    const { vault, approver, ask } = at
    const keys = Array.from({ length: 300 }, () => ({ pubkey: keyOf(vault), isSigner: false, isWritable: true }))
    const { transaction } = compileTransaction({
      payer: keyOf(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [new TransactionInstruction({ keys, programId: SystemProgram.programId })],
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    const body = { transaction: Buffer.from(transaction).toString('base64'), approver: approver() }
    expect(await ask('POST', '/v2/proposals', body)).toMatchObject({ status: 400, error: { code: 'bad_request' } })
  })

  it('of a transaction of any origin is made once for its Idempotency-Key', async () => {
    const { service, approver, put, a, follow, proposalOf } = at
    const unsigned = new VersionedTransaction(at.transferMessage(3_000_000).compileToV0Message()).serialize()
    const body = { transaction: Buffer.from(unsigned).toString('base64'), approver: approver() }
    const ask = () =>
      service.request('POST', '/v2/proposals', { body, headers: { 'idempotency-key': 'any transaction' } })
    const first = await ask()
    expect([first.status, first.json.data?.mode]).toEqual([201, 'unsigned'])
    expect((await ask()).json.data).toEqual(first.json.data)
    const { proposal } = first.json.data
    put(proposal, a)
    await follow()
    expect(await proposalOf(proposal.id)).toMatchObject({ status: 'active', operation: 'POST /v2/proposals' })
  })

  it('is made by the platform wallet in mode signed, once for its Idempotency-Key', async () => {
    const { service, multisig, platform, follow, proposalOf, carryOut } = at
    const limits = { lamports_per_transaction: String(SOL), lamports_per_day: String(SOL) }
    expect((await service.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
    const body = { transaction: paid([at.stranger.publicKey]), mode: 'signed', approver: { kind: 'squads', multisig } }
    const ask = () => service.request('POST', '/v2/proposals', { body, headers: { 'idempotency-key': 'a payment' } })
    const first = await ask()
    expect([first.status, first.json.error]).toEqual([201, undefined])
    const { proposal } = first.json.data
    expect(proposal.signatures).toHaveLength(1)
    expect((await ask()).json.data).toEqual(first.json.data)
    await follow()
    expect(await proposalOf(proposal.id)).toMatchObject({
      ...{ status: 'active', approver: { member: addressOf(platform) } },
    })
    const { status, error } = await at.ask('POST', `/v2/proposals/${proposal.id}/approvals`, { mode: 'signed' })
    expect([status, error.param]).toEqual([400, 'member'])
    await carryOut(proposal.id)
    expect(await proposalOf(proposal.id)).toMatchObject({ status: 'executed' })
  })

  it('is never signed by the platform wallet where only the wallet of the user may sign, also if it is renewed', async () => {
    const { a, b, vault, multisig, stranger, ask, step, nextIndex } = at
    const index = nextIndex()
    const body = { payer: vault, recipient: addressOf(stranger), lamports: '5000000' }
    const signed = { mode: 'signed', approver: { kind: 'squads', multisig } }
    const refusal = { code: 'bad_request', param: 'mode', message: expect.stringContaining('POST /v2/proposals') }
    expect((await ask('POST', '/v2/sol-transfers', { ...body, ...signed })).error).toMatchObject(refusal)
    expect(nextIndex()).toBe(index)
    const { id } = await at.payment()
    for (const by of [a, b]) await step('rejections', id, by)
    expect((await ask('POST', `/v2/proposals/${id}/renewals`, { mode: 'signed' })).error).toMatchObject(refusal)
    expect(await at.proposalOf(id)).toMatchObject({ status: 'rejected', renewed_by: null })
  })

  it('gives the id of its request to the records and events of its execution, whoever sends it', async () => {
    const { a, b, vault, ask, post, approver, put, follow, foreign, step } = at
    const about = { externalUid: 'invoice-7', metadata: { customer: '42' } }
    const body = { payer: vault, name: 'Named', symbol: 'NMD', uri: 'https://example.com/token.json' }
    const token = { ...body, initial_supply: '1000', token_program: 'token2022', approver: approver(), ...about }
    const execute = async (id: string, index: string, by: 'api' | 'elsewhere') => {
      if (by === 'elsewhere') return foreign([await at.foreignExecution(index, b)], b)
      const { transaction } = await post(`/v2/proposals/${id}/executions`, { member: addressOf(a) })
      return (await post('/v2/transactions', { transaction: signWith(transaction, [a]) })).signature as string
    }
    for (const by of ['api', 'elsewhere'] as const) {
      const { proposal, mint } = await post('/v2/tokens', token)
      put(proposal, a)
      await follow()
      for (const each of [a, b]) await step('approvals', proposal.id, each)
      const signature = await execute(proposal.id, proposal.transaction_index, by)
      await follow()
      const { data } = await ask('GET', '/v2/events')
      const own = data.filter(({ data: { object } }: { data: { object: { resource_id: string } } }) =>
        [signature, mint].includes(object.resource_id),
      )
      expect(own.map(({ type }: { type: string }) => type)).toContain('token.created')
      for (const { type, external_uid, metadata } of own)
        expect([by, type, external_uid, metadata]).toEqual([by, type, about.externalUid, about.metadata])
    }
  })

  it('becomes stale when its multisig changes before it is approved', async () => {
    const { a, b, c, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    const config = String(BigInt(index) + 1n)
    at.foreignChange(config, a)
    for (const each of [a, b]) at.foreignVote(config, each, 'proposalApprove')
    const base = { ...at.place(config), member: a.publicKey }
    at.foreign([instructions.configTransactionExecute({ ...base, rentPayer: a.publicKey })], a)
    await follow()
    expect(await proposalOf(id)).toMatchObject({ status: 'stale', next: `Propose it anew: svc proposals renew ${id}` })
    expect(await refused('approvals', id, c)).toMatchObject({ status: 400 })
  })

  it('is proposed anew once, also if two ask at the same time', async () => {
    const { a, b, step, ask, proposalOf } = at
    const { id } = await at.payment()
    await step('rejections', id, a)
    await step('rejections', id, b)
    const renew = (member: Keypair) => ask('POST', `/v2/proposals/${id}/renewals`, { member: addressOf(member) })
    const answers = await Promise.all([renew(a), renew(b)])
    const [made, late] = answers.toSorted((one, other) => one.status - other.status)
    expect([made?.status, late?.status]).toEqual([201, 400])
    const { id: next } = made?.data.proposal ?? {}
    expect(late?.error).toMatchObject({ message: expect.stringContaining(next), details: { proposal: next } })
    expect(await proposalOf(id)).toMatchObject({ renewed_by: next })
    const { data: planned } = await ask('GET', `/v2/proposals?multisig=${at.multisig}&status=planned`)
    expect(planned.map((each: { id: string }) => each.id)).toEqual([next])
  })

  it('is proposed anew with the amounts of now after its cancellation', async () => {
    const { earningPool, splitsTo, vault, post, approver, put, a, b, follow, step, carryOut, ask, proposalOf } = at
    const { pool, trade } = await earningPool()
    const body = { payer: vault, splits: splitsTo(2), approver: approver() }
    const data = await post(`/v2/pools/${pool}/fee-claims`, body)
    const { id } = data.proposal
    put(data.proposal, a)
    await follow()
    const renew = () => ask('POST', `/v2/proposals/${id}/renewals`, { member: addressOf(b) })
    expect((await renew()).error.message).toContain(`The proposal ${id} is active: reject it first`)
    await step('rejections', id, a)
    await step('rejections', id, b)
    await trade()
    const { proposal } = (await renew()).data
    expect(await proposalOf(id)).toMatchObject({ status: 'rejected', renewed_by: proposal.id })
    put(proposal, b)
    await follow()
    const before = at.lamports(body.splits[0]!.recipient)
    await carryOut(proposal.id)
    expect(await proposalOf(proposal.id)).toMatchObject({ status: 'executed' })
    const paid = at.lamports(body.splits[0]!.recipient) - before
    expect(paid).toBeGreaterThan(BigInt(data.estimated_quote) / 2n)
    expect((await renew()).status).toBe(400)
  })
})
