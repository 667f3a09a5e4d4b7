/** Proposals of a multisig that strangers and members try to falsify: forged executions, taken numbers, closed accounts. */
import * as spl from '@solana/spl-token'
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { instructions } from '@sqds/multisig'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { withVaultCalls } from '../../src/following/effects.ts'
import { MOST_WHAT } from '../../src/solana/decision-texts.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { squadsProposalAddress } from '../../src/solana/squads/index.ts'
import { executedMessages, insertProposal } from '../../src/store/proposals/proposals.ts'
import { signed, transfer } from '../support/local-chain-transactions.ts'
import { requester } from '../support/request.ts'
import { keyOf } from '../support/squads.ts'
import { addressOf, lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'

describe.skipIf(lacksTreasury)(`a proposal in hostile hands${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  const close = (index: string, by: Keypair) => {
    const rentCollector = at.a.publicKey
    return at.foreign([instructions.vaultTransactionAccountsClose({ ...at.place(index), rentCollector })], by)
  }
  /** The execution of a proposal of another multisig, in a transaction that names the proposal with this number. */
  const forgery = async (index: string): Promise<() => string> => {
    const other = await at.createMultisig()
    const { id, transaction_index } = await at.payment(other)
    await at.step('approvals', id, at.a)
    await at.step('approvals', id, at.b)
    const named = keyOf(squadsProposalAddress(at.multisig, BigInt(index)))
    const list = [await at.foreignExecution(transaction_index, at.b, other.multisig), transfer(at.b, named, 1_000_000)]
    return () => at.foreign(list, at.b)
  }

  it('is executed by the transaction that calls its execution, and by no other that names it', async () => {
    const { a, b, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    const forge = await forgery(index)
    for (const each of [a, b]) at.foreignVote(index, each, 'proposalApprove')
    const signature = at.foreign([await at.foreignExecution(index, a)], a)
    const forged = forge()
    await follow()
    const { status, signature: found } = await proposalOf(id)
    expect([status, found === forged, found === signature]).toEqual(['executed', false, true])
  })

  it('says who gets the vault itself, in its sentence, its plan and beside the balances', async () => {
    const { vault, stranger, a } = at
    const thief = addressOf(stranger)
    const act = SystemProgram.assign({ accountPubkey: keyOf(vault), programId: stranger.publicKey })
    const message = new TransactionMessage({ payerKey: keyOf(vault), recentBlockhash: vault, instructions: [act] })
    const transaction = Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString(
      'base64',
    )
    const { proposal } = await at.post('/v2/proposals', { transaction, approver: at.approver(a) })
    at.put(proposal, a)
    const gains = `${vault} (this vault) goes to the program ${thief}`
    const { what, plan } = await at.proposalOf(proposal.id)
    expect(what).toContain(gains)
    expect(plan.join(' ').replace(/ +/g, ' ')).toContain(gains)
    expect(plan).toContain(`  ws  ${vault}  account (this vault)`)
    const { data } = await at.ask('GET', `/v2/proposals/${proposal.id}/forecast`)
    const system = SystemProgram.programId.toBase58()
    expect(data.control_changes).toEqual([{ address: vault, what: 'program', before: system, after: thief }])
  })

  /** Proposes what the vault does, and has two members approve it. */
  async function approved(act: TransactionInstruction): Promise<string> {
    const { vault, a, b } = at
    const message = new TransactionMessage({ payerKey: keyOf(vault), recentBlockhash: vault, instructions: [act] })
    const transaction = Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize())
    const body = { transaction: transaction.toString('base64'), approver: at.approver(a) }
    const { proposal } = await at.post('/v2/proposals', body)
    at.put(proposal, a)
    await at.follow()
    await at.step('approvals', proposal.id, a)
    await at.step('approvals', proposal.id, b)
    return proposal.id
  }
  const execution = (id: string) => at.ask('POST', `/v2/proposals/${id}/executions`, { member: addressOf(at.a) })

  it('whose execution would close an account of others is refused unless that was planned', async () => {
    const { vault, stranger, chain, service } = at
    const me = stranger.publicKey
    const spare = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, me)
    chain.advance(1)
    const opens = spl.createAssociatedTokenAccountInstruction(me, spare, me, spl.NATIVE_MINT)
    const gives = spl.createSetAuthorityInstruction(spare, me, spl.AuthorityType.CloseAccount, keyOf(vault))
    const { blockhash } = chain.latestBlockhash()
    expect(chain.send(signed([opens, gives], [stranger], { blockhash })).err).toBeNull()
    const id = await approved(spl.createCloseAccountInstruction(spare, keyOf(vault), keyOf(vault)))
    const { db } = service.services.store
    const { forecast_json } = await db
      .selectFrom('proposals')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const planned = JSON.parse(forecast_json!)
    const balance_changes = planned.balance_changes.filter(
      (each: { address: string }) => each.address !== String(spare),
    )
    const plan = async (forecast: object) =>
      service.services.store.write((tx) =>
        tx
          .updateTable('proposals')
          .set({ forecast_json: JSON.stringify(forecast) })
          .where('id', '=', id)
          .execute(),
      )
    await plan({ ...planned, balance_changes })
    expect((await execution(id)).error.details).toEqual({
      reason: 'changed',
      changes: [expect.stringMatching(`^${spare} would be closed and lose .* SOL, which was not planned$`)],
    })
    await plan(planned)
    await at.step('executions', id, at.a)
  })

  it('whose execution would change another control than planned is refused, and one of an older version says so', async () => {
    const { vault, stranger, a, chain, ask, service } = at
    const owned = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint.publicKey, owner, true)
    const [mint, recipient] = [Keypair.generate(), Keypair.generate().publicKey]
    const from = owned(stranger.publicKey)
    const me = stranger.publicKey
    const account = (owner: PublicKey) =>
      spl.createAssociatedTokenAccountInstruction(me, owned(owner), owner, mint.publicKey)
    const lands = (list: TransactionInstruction[], ...keys: Keypair[]) => {
      chain.advance(1)
      const { blockhash } = chain.latestBlockhash()
      const { err, logs } = chain.send(signed(list, [stranger, ...keys], { blockhash }))
      expect(err, logs.join('\n')).toBeNull()
    }
    const lamports = Number(chain.minimumBalance(spl.MINT_SIZE))
    const room = { newAccountPubkey: mint.publicKey, space: spl.MINT_SIZE, programId: spl.TOKEN_PROGRAM_ID }
    lands(
      [
        SystemProgram.createAccount({ fromPubkey: me, lamports, ...room }),
        spl.createInitializeMint2Instruction(mint.publicKey, 0, me, null),
        account(me),
        account(recipient),
        spl.createMintToInstruction(mint.publicKey, from, me, 1_000),
        spl.createApproveInstruction(from, keyOf(vault), me, 100),
      ],
      mint,
    )
    /** The vault, as the delegate, pays 50: it stays the delegate, of 50. */
    const act = spl.createTransferInstruction(from, owned(recipient), keyOf(vault), 50)
    const forecast = async (id: string) => (await ask('GET', `/v2/proposals/${id}/forecast`)).data
    const id = await approved(act)
    const amount = 'amount of the delegate in raw units'
    expect(await forecast(id)).toMatchObject({
      changes: [],
      control_changes: [{ address: from.toBase58(), what: amount, before: '100', after: '50' }],
    })

    // The owner approves less, and the same payment takes the last of it.
    lands([spl.createApproveInstruction(from, keyOf(vault), me, 50)])
    const lost = `delegate of ${from} would go from ${vault} to nobody, which was not planned`
    expect((await forecast(id)).changes).toContain(lost)
    expect((await execution(id)).error).toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(
        new RegExp(`^What was approved has changed: .*${lost}.* \\(svc proposals cancel `),
      ),
      details: { reason: 'changed', changes: expect.arrayContaining([lost]) },
    })

    // A row of before has the balances alone.
    const balances = JSON.stringify((await forecast(id)).balance_changes)
    await service.services.store.write((tx) =>
      tx.updateTable('proposals').set({ forecast_json: balances }).where('id', '=', id).execute(),
    )
    expect(await forecast(id)).toMatchObject({ changes: [], not_compared: expect.stringContaining('only balances') })
    await at.step('executions', id, a)
    expect(await at.proposalOf(id)).toMatchObject({ status: 'executed' })
  })

  it('says on a phone what it is about in whole, as it is approved elsewhere', async () => {
    const { vault, a, b, post, service } = at
    const acts = Array.from({ length: 3 }, () => {
      const { publicKey } = Keypair.generate()
      return spl.createFreezeAccountInstruction(publicKey, publicKey, keyOf(vault))
    })
    const message = new TransactionMessage({ payerKey: keyOf(vault), recentBlockhash: vault, instructions: acts })
    const transaction = Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize())
    const { proposal } = await post('/v2/proposals', {
      transaction: transaction.toString('base64'),
      approver: at.approver(a),
    })
    at.put(proposal, a)
    await at.follow()
    // The longest sentence that a device shows too.
    const what = `${(await at.proposalOf(proposal.id)).what.slice(0, 40).padEnd(MOST_WHAT - 3, ' more')}END`
    await service.services.store.write((tx) =>
      tx.updateTable('proposals').set({ what }).where('id', '=', proposal.id).execute(),
    )
    const request = { method: 'POST', path: `/v2/proposals/${proposal.id}/approvals`, body: { member: addressOf(b) } }
    // Wallets fetch from a daemon.
    const { fetch } = await createApp({ ...service.services, role: 'api' })
    const ask = requester('http://svc.test', async (asked) => fetch(asked), service.operator)
    const body = { account: addressOf(b) }
    const made = await ask('POST', '/v2/pay-requests', { body: { ...body, request } })
    const { json, text } = await ask('POST', `/v2/pay-requests/${made.json.data.id}/transactions`, { body })
    expect(json.data?.message, text).toBe(`Approve a proposal: ${what}`)
  })

  it('of another chain with the same addresses adds nothing to a transaction of this one', async () => {
    const { service, a, b, follow } = at
    const { store } = service.services
    const { id, transaction_index: index } = await at.payment()
    for (const each of [a, b]) at.foreignVote(index, each, 'proposalApprove')
    const signature = at.foreign([await at.foreignExecution(index, a)], a)
    await follow()
    const row = await store.db.selectFrom('proposals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const { seq: _, ...other } = { ...row, id: 'prp_other', genesis: 'another chain' }
    await store.write((tx) => insertProposal(tx, other))
    const { raw } = await store.db
      .selectFrom('transactions')
      .select('raw')
      .where('signature', '=', signature)
      .executeTakeFirstOrThrow()
    const { message } = decodeWireTransaction(raw)
    const whole = await withVaultCalls(service.services, message, signature)
    expect(whole.instructions).toHaveLength(message.instructions.length + 1)
    const named = { genesis: row.genesis, addresses: [], signature }
    expect(await executedMessages(store.db, named)).toHaveLength(1)
    await store.write((tx) => tx.deleteFrom('proposals').where('id', '=', other.id).execute())
  })

  it('that was cancelled and closed while nobody looked is not executed by a transaction that names it', async () => {
    const { a, b, c, step, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    await step('approvals', id, a)
    await step('approvals', id, b)
    const forge = await forgery(index)
    for (const each of [b, c]) at.foreignVote(index, each, 'proposalCancel')
    forge()
    close(index, a)
    await follow(6)
    expect(await proposalOf(id)).toMatchObject({ status: 'cancelled', signature: null })
  })

  it('that was approved, executed and closed while nobody looked is executed', async () => {
    const { a, b, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    for (const each of [a, b]) at.foreignVote(index, each, 'proposalApprove')
    const signature = at.foreign([await at.foreignExecution(index, a)], a)
    close(index, a)
    await follow(6)
    expect(await proposalOf(id)).toMatchObject({ status: 'executed', signature })
  })

  it('is found executed behind many transactions that name it', async () => {
    const { a, b, stranger, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    for (const each of [a, b]) at.foreignVote(index, each, 'proposalApprove')
    const signature = at.foreign([await at.foreignExecution(index, a)], a)
    const named = keyOf(squadsProposalAddress(at.multisig, BigInt(index)))
    for (let i = 0; i < 40; i++) at.foreign([transfer(stranger, named, 1 + i)], stranger)
    await follow()
    expect(await proposalOf(id)).toMatchObject({ status: 'executed', signature })
  })

  it('whose number a change of the members took says so, and cannot be approved', async () => {
    const { a, follow, proposalOf, ask } = at
    const { id, transaction_index: index } = await at.plan()
    at.foreignChange(index, a)
    await follow()
    const { status, fault } = await proposalOf(id)
    expect([status, fault]).toEqual([
      'expired',
      expect.stringMatching(/taken by another transaction.*change of the members/),
    ])
    expect((await ask('POST', `/v2/proposals/${id}/approvals`, { member: addressOf(a) })).status).toBe(400)
  })

  it('that was built twice for the same number is one proposal, and the other says which', async () => {
    const { a, follow, proposalOf, put, ask } = at
    const [first, second] = [await at.plan(), await at.plan()]
    expect(second.transaction_index).toBe(first.transaction_index)
    put(first, a)
    await follow()
    const found = [await proposalOf(first.id), await proposalOf(second.id)]
    const [won, lost] = found.toSorted((one, other) => one.status.localeCompare(other.status))
    expect([won.status, lost.status, lost.fault]).toEqual(['active', 'expired', expect.stringContaining(won.id)])
    // Of the same act, the last plan stands for all.
    expect([won.id, lost.renewed_by]).toEqual([second.id, won.id])
    const { status, error } = await ask('POST', `/v2/proposals/${lost.id}/approvals`, { member: addressOf(a) })
    expect([status, error.message]).toEqual([400, expect.stringContaining(won.id)])
  })

  it('that two requests import at once is one proposal', async () => {
    const { a, multisig, ask } = at
    const index = at.nextIndex()
    at.foreignProposal(index, a, 5)
    const imported = () => ask('POST', '/v2/proposals/imports', { multisig, transaction_index: index })
    const answers = await Promise.all([imported(), imported(), imported()])
    expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined])
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1)
    const huge = await ask('POST', '/v2/proposals/imports', { multisig, transaction_index: '18446744073709551615' })
    expect(huge.status).toBe(404)
    const larger = await ask('POST', '/v2/proposals/imports', { multisig, transaction_index: '18446744073709551616' })
    expect(larger.status).toBe(400)
  })

  it('shows a vote that its member changed as it is now', async () => {
    const { a, follow, proposalOf } = at
    const { id, transaction_index: index } = await at.payment()
    at.foreignVote(index, a, 'proposalApprove')
    await follow()
    at.foreignVote(index, a, 'proposalReject')
    await follow()
    const { decisions } = await proposalOf(id)
    expect(decisions).toMatchObject([{ approver: addressOf(a), decision: 'rejected' }])
  })
})
