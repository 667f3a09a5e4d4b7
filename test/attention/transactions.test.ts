/** Transactions, bundles, approvals and limits that need a person: each cause is made, seen in the list, and dealt with. */
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { DAY_MS, HOUR_MS } from '../../src/platform/timing.ts'
import { approversOf, decide } from '../support/approvers.ts'
import { FEE, startPlatform, submitMemo } from '../support/platform-wallet.ts'
import { type Service, startService } from '../support/service.ts'
import { SOL, signWith, walletOn } from '../support/wallets.ts'
import { listed, only, subjectsOf } from './listed.ts'

/** More than the 150 blocks of a blockhash at 400 ms a slot. */
const EXPIRY_SECONDS = 120

async function start(service?: Service) {
  service ??= await startService()
  const { chain, wallet: payer } = await walletOn(service.services)
  const to = Keypair.generate().publicKey
  const build = (lamports: bigint) => {
    const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    return Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString('base64')
  }
  const post = async (path: string, body: object) => {
    const { json, text, status } = await service.request('POST', path, { body })
    expect([200, 201], text).toContain(status)
    return json.data
  }
  const submit = (transaction: string, more: object = {}) =>
    post('/v2/transactions', { transaction: signWith(transaction, [payer]), skip_preflight: true, ...more })
  const pass = async (seconds = EXPIRY_SECONDS) => {
    chain.advance(seconds)
    service.clock.advance(20_000)
    await followTransactions(service.services)
  }
  return { ...service, chain, payer, build, post, submit, pass }
}

describe('transaction_failed', () => {
  it('is listed with its error until the same resource is tried again', async () => {
    const it = await start()
    const tracked_resource = { resource_type: 'pool', resource_id: 'somewhere', related_events: [] }
    const { signature } = await it.submit(it.build(100n * SOL), { tracked_resource })
    await it.pass()
    expect(await only(it, 'transaction_failed')).toMatchObject({
      id: `transaction_failed.${signature}`,
      subject: { type: 'transaction', id: signature },
      summary: expect.stringMatching(/for the pool somewhere failed, and was not retried: .+\.$/),
      command: `svc tx get ${signature}`,
      page: `/console/transactions/${signature}`,
    })
    await it.submit(it.build(SOL), { tracked_resource })
    expect(await listed(it, 'transaction_failed')).toEqual([])
  })

  it('goes once its message is submitted with a fresh blockhash, and not with another message', async () => {
    const it = await start()
    const first = it.build(SOL)
    const { signature } = await submitUnseen(it, first)
    for (let round = 0; round < 4; round++) await it.pass()
    expect(await subjectsOf(it, 'transaction_failed')).toEqual([signature])
    await it.submit(it.build(2n * SOL))
    expect(await subjectsOf(it, 'transaction_failed')).toEqual([signature])
    const { transactions } = await it.post('/v2/transactions/refresh', { transactions: [first] })
    await it.submit(transactions[0])
    expect(await listed(it, 'transaction_failed')).toEqual([])
  })

  it('leaves the list after a week', async () => {
    const it = await start()
    await it.submit(it.build(100n * SOL))
    await it.pass()
    expect(await listed(it, 'transaction_failed')).toHaveLength(1)
    it.clock.advance(7 * DAY_MS)
    expect(await listed(it, 'transaction_failed')).toEqual([])
  })
})

/** Submits while the node takes nothing, so that it expires. */
async function submitUnseen(it: Awaited<ReturnType<typeof start>>, transaction: string) {
  const { chain } = it.services
  const own = chain.call.bind(chain)
  chain.call = async <T>(method: string, params: readonly unknown[]) =>
    method === 'sendTransaction' ? ('' as T) : own<T>(method, params)
  const submitted = await it.submit(transaction, { max_retries: 0 })
  chain.call = own
  return submitted
}

describe('transaction_unknown', () => {
  it('is listed once no node has shown it for a day, until a history proves what became of it', async () => {
    const it = await start()
    const { chain: node } = it.services
    const [own, witnesses] = [node.call.bind(node), node.witnesses.bind(node)]
    const call = async <T>(method: string, params: readonly unknown[]) => {
      const answer = (await own(method, params)) as { context: object; value: unknown[] }
      if (method === 'getSignaturesForAddress') return [] as T
      return (method === 'getSignatureStatuses' ? { ...answer, value: answer.value.map(() => null) } : answer) as T
    }
    const blind = {
      provesAbsence: false,
      call,
      witnesses: async <T>(read: (of: object) => Promise<T>) => [await read({ call })],
    }
    Object.assign(node, blind)
    const { signature } = await it.submit(it.build(SOL))
    await it.pass()
    it.clock.advance(HOUR_MS)
    await it.pass()
    expect(await listed(it, 'transaction_unknown')).toEqual([])
    it.clock.advance(DAY_MS)
    await it.pass()
    expect(await only(it, 'transaction_unknown')).toMatchObject({
      subject: { type: 'transaction', id: signature },
      command: `svc tx get ${signature}`,
    })
    Object.assign(node, { provesAbsence: true, call: own, witnesses })
    it.clock.advance(HOUR_MS)
    await it.pass()
    expect(await listed(it, 'transaction_unknown')).toEqual([])
  })
})

describe('bundle_undone', () => {
  it('is listed once for all its transactions, until the resource is tried again', async () => {
    const it = await start()
    const tracked_resource = { resource_type: 'pool', resource_id: 'somewhere', related_events: [] }
    const bundle = [SOL, 100n * SOL].map((lamports) => signWith(it.build(lamports), [it.payer]))
    const sent = await it.post('/v2/transactions', { bundle: true, signed_transactions: bundle, tracked_resource })
    for (let round = 0; round < 4; round++) await it.pass()
    expect(await only(it, 'bundle_undone')).toMatchObject({
      subject: { type: 'bundle', id: sent.bundle_id },
      summary: `The bundle ${sent.bundle_id} had no effect: its 2 transactions failed.`,
      command: `svc tx list --bundle-id ${sent.bundle_id}`,
    })
    expect(await listed(it, 'transaction_failed')).toEqual([])
    await it.submit(it.build(SOL), { tracked_resource })
    expect(await listed(it, 'bundle_undone')).toEqual([])
  })
})

describe('approval_waits', () => {
  it('says how many have approved and when it ends, and goes with the last approval or at that time', async () => {
    const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0' })
    const rules = { lamports_per_transaction: '1000000', lamports_per_day: '1000000' }
    const [ada, bob] = await approversOf(service, 2, rules, { expires_in: 3600 })
    const ask = async (memo: string) => (await submitMemo(service, memo)).json.data.proposal
    const proposal = await ask('one')
    await decide(service, proposal, ada!)
    expect(await only(service, 'approval_waits')).toMatchObject({
      subject: { type: 'proposal', id: proposal.id },
      ends_at: proposal.expires_at,
      summary: expect.stringContaining(`${proposal.id} waits, 1 of 2 approvals: `),
      command: `svc proposals approve ${proposal.id}`,
      page: `/console/proposals/${proposal.id}`,
    })
    await decide(service, proposal, bob!)
    expect(await listed(service, 'approval_waits')).toEqual([])
    const late = await ask('two')
    expect(await subjectsOf(service, 'approval_waits')).toEqual([late.id])
    service.clock.advance(HOUR_MS)
    expect(await listed(service, 'approval_waits')).toEqual([])
  })
})

describe('policy_nearly_spent', () => {
  it('names the limit and what is left from 80 % on, until the limit is raised or the day is over', async () => {
    const service = await startPlatform({ lamports_per_transaction: String(FEE), lamports_per_day: String(10n * FEE) })
    const pay = async (memo: number) => {
      const { status, text } = await submitMemo(service, String(memo))
      expect(status, text).toBe(200)
    }
    for (let memo = 1; memo <= 7; memo++) await pay(memo)
    expect(await listed(service, 'policy_nearly_spent')).toEqual([])
    await pay(8)
    const signer = service.wallet.publicKey.toBase58()
    const item = await only(service, 'policy_nearly_spent')
    expect(item).toMatchObject({
      subject: { type: 'spending_limit', id: `${signer}.lamports` },
      summary: expect.stringMatching(
        /has spent 80 % of the 0\.00005 SOL that may leave in 24 hours; 0\.00001 SOL are left\.$/,
      ),
    })
    const until = new Date(service.clock.now() + HOUR_MS).toISOString()
    await service.request('POST', `/v2/attention/${item.id}/snooze`, { body: { until, reason: 'payday' } })
    expect(await listed(service, 'policy_nearly_spent')).toEqual([])
    service.clock.advance(HOUR_MS)
    expect(await listed(service, 'policy_nearly_spent')).toHaveLength(1)
    await service.request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: String(20n * FEE) } })
    expect(await listed(service, 'policy_nearly_spent')).toEqual([])
    await service.request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: String(10n * FEE) } })
    expect(await listed(service, 'policy_nearly_spent')).toHaveLength(1)
    service.clock.advance(DAY_MS)
    expect(await listed(service, 'policy_nearly_spent')).toEqual([])
  })
})
