/** Transactions that the only node of a cluster does not show: nothing of them is proven, until a history or a nonce shows it. */

import { base58 } from '@scure/base'
import {
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { transactionWatcherWorker } from '../daemon/workers/workers.ts'
import { awaitConfirmed, unconfirmed } from '../src/operations/transactions/await-confirmed.ts'
import { correctTransactions, followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { insertProposal } from '../src/store/proposals/proposals.ts'
import { type Service, startService } from './support/service.ts'
import { storedProposal } from './support/stored-proposal.ts'

const SOL = 1_000_000_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Lie = (method: string, answer: unknown) => unknown

/** Answers null for every signature, as a node without its transaction index does. */
const blind: Lie = (method, answer) => {
  if (method !== 'getSignatureStatuses') return answer
  const { context, value } = answer as { context: object; value: unknown[] }
  return { context, value: value.map(() => null) }
}
/** The same, without lists of signatures either. */
const dark: Lie = (method, answer) => (method === 'getSignaturesForAddress' ? [] : blind(method, answer))

async function onOneNode(lie: Lie) {
  const service = await startService()
  const { chain: node } = service.services
  const chain = await node.local()
  const told = { lie }
  const own = node.call.bind(node)
  const call = async <T>(method: string, params: readonly unknown[]) => told.lie(method, await own(method, params)) as T
  Object.assign(node, {
    provesAbsence: false,
    call,
    witnesses: async <T>(read: (of: { call: typeof call }) => Promise<T>) => [await read({ call })],
  })
  const payer = Keypair.generate()
  chain.airdrop(payer.publicKey.toBase58(), 10n * BigInt(SOL))
  const to = Keypair.generate().publicKey
  const sign = (instructions: TransactionInstruction[], recentBlockhash: string, signers = [payer]) => {
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign(signers)
    return transaction
  }
  const transfer = (lamports: number) => SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })
  const build = (lamports = SOL / 10) => sign([transfer(lamports)], chain.latestBlockhash().blockhash)
  const past = (transaction: VersionedTransaction) => chain.send(transaction.serialize())
  const submit = async (transaction: VersionedTransaction, skip_preflight = false) => {
    const body = { transaction: Buffer.from(transaction.serialize()).toString('base64'), skip_preflight }
    const { json } = await service.request('POST', '/v2/transactions', { body })
    return json.data.signature as string
  }
  const pass = async (seconds: number, milliseconds = 10_000) => {
    chain.advance(seconds)
    service.clock.advance(milliseconds)
    await followTransactions(service.services)
  }
  const read = async (signature: string) => (await service.request('GET', `/v2/transactions/${signature}`)).json.data
  const events = async (signature: string) => eventsOf(service, signature)
  return { ...service, chain, payer, to, told, sign, transfer, build, past, submit, pass, read, events }
}

const eventsOf = async ({ request }: Pick<Service, 'request'>, id: string): Promise<string[]> =>
  (await request('GET', `/v2/events?order=asc&resource_id=${id}`)).json.data.map(({ type }: { type: string }) => type)
const signatureOf = ({ signatures }: VersionedTransaction) => base58.encode(signatures[0] ?? new Uint8Array())

describe('a transaction that the only node does not show', () => {
  it('has not failed, whatever the node answers: ten transfers that landed stay as they were', async () => {
    const it = await onOneNode(dark)
    const signatures = []
    for (let i = 1; i <= 10; i++) signatures.push(await it.submit(it.build(i * 1_000_000)))
    for (let round = 0; round < 4; round++) await it.pass(120, 60_000)
    for (const signature of signatures) {
      expect(await it.read(signature)).toMatchObject({ lifecycle: 'submitted', err: null, absence: 'unproven' })
      expect(await it.events(signature)).toEqual(['transaction.submitted'])
    }
    await it.pass(120, 2 * DAY_MS)
    expect(await it.read(signatures[0] ?? '')).toMatchObject({ lifecycle: 'submitted', absence: 'unproven' })
  })

  it('is named by the request that waits for it, with what can prove its end', async () => {
    const it = await onOneNode(dark)
    const signature = await it.submit(it.build())
    const said = async () => {
      const row = await awaitConfirmed(it.services, signature, performance.now())
      return unconfirmed('The transaction', row, 'repeat the request')
    }
    expect(await said()).toBe('The transaction is not confirmed yet: repeat the request to continue')
    for (let round = 0; round < 3; round++) await it.pass(120, 60_000)
    expect(await said()).toMatch(
      /^The transaction was not seen in a block, and nothing proves that .* to look again\. A second node \(setting rpc-urls\) or a later transaction of its payer proves/,
    )
  })

  it('is confirmed if the history of its payer lists it', async () => {
    const it = await onOneNode(blind)
    const signature = await it.submit(it.build())
    for (let round = 0; round < 3; round++) await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'finalized', err: null, absence: null })
    expect(await it.events(signature)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    // The node still does not know its status.
    await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'finalized' })
  })

  it('has expired once the history of its payer has passed the end of its blockhash without it', async () => {
    const it = await onOneNode(blind)
    const late = it.build()
    it.chain.advance(160)
    const signature = await it.submit(late, true)
    for (let round = 0; round < 3; round++) await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'submitted' })
    it.past(it.build(7_000_000))
    await it.pass(120)
    // The list must pass the slot at which the blockhash was seen to have ended.
    it.past(it.build(8_000_000))
    await it.pass(5)
    await it.pass(120)
    const end = { lifecycle: 'failed', err: 'BlockhashExpired', absence: 'proven' }
    expect(await it.read(signature)).toMatchObject(end)
    expect(await it.events(signature)).toEqual(['transaction.submitted', 'transaction.failed'])
  })

  /** A nonce account of the payer with its value, and the instruction that advances it. */
  function makeNonce(it: Awaited<ReturnType<typeof onOneNode>>) {
    const nonce = Keypair.generate()
    const create = SystemProgram.createNonceAccount({
      fromPubkey: it.payer.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: it.payer.publicKey,
      lamports: Math.max(Number(it.chain.minimumBalance?.(NONCE_ACCOUNT_LENGTH) ?? 0), 2_000_000),
    })
    it.past(it.sign(create.instructions, it.chain.latestBlockhash().blockhash, [it.payer, nonce]))
    it.chain.advance(5)
    const data = it.chain.account(nonce.publicKey.toBase58())?.data
    const value = NonceAccount.fromAccountData(Buffer.from(data ?? [])).nonce
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: it.payer.publicKey })
    return { value, advance }
  }

  it('with a durable nonce has ended once another transaction has used the same value', async () => {
    const it = await onOneNode(blind)
    const { value, advance } = makeNonce(it)
    const other = it.sign([advance, it.transfer(1_000_000)], value)
    const own = it.sign([advance, it.transfer(2_000_000)], value)
    it.past(other)
    it.chain.advance(3)
    const signature = await it.submit(own, true)
    for (let round = 0; round < 3; round++) await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'failed', err: 'NonceAdvanced', absence: 'proven' })
  })

  it('with a durable nonce has ended once its nonce was advanced after the first look, as `solana new-nonce` does', async () => {
    const it = await onOneNode(blind)
    const { value, advance } = makeNonce(it)
    // Which value an advance with a blockhash has used is in no list.
    const advanceNow = () => it.past(it.sign([advance], it.chain.latestBlockhash().blockhash))
    advanceNow()
    it.chain.advance(3)
    const signature = await it.submit(it.sign([advance, it.transfer(2_000_000)], value), true)
    for (let round = 0; round < 3; round++) await it.pass(120, 60_000)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'submitted', absence: 'unproven' })
    // Without the authority, the instruction fails, and advances nothing.
    const stranger = Keypair.generate()
    const [nonce] = advance.keys
    const noncePubkey = nonce?.pubkey ?? stranger.publicKey
    const failing = SystemProgram.nonceAdvance({ noncePubkey, authorizedPubkey: stranger.publicKey })
    it.past(it.sign([failing], it.chain.latestBlockhash().blockhash, [it.payer, stranger]))
    await it.pass(120, 60_000)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'submitted', absence: 'unproven' })
    advanceNow()
    await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'failed', err: 'NonceAdvanced', absence: 'proven' })
  })

  it('with a durable nonce has not ended by its own use of the value, if only the history of the nonce lists it', async () => {
    const it = await onOneNode(blind)
    const { value, advance } = makeNonce(it)
    const own = it.sign([advance, it.transfer(2_000_000)], value)
    // The list of the payer lacks it once, as that of a busy payer beyond its last page.
    let lists = 0
    it.told.lie = (method, answer) => {
      if (method !== 'getSignaturesForAddress') return blind(method, answer)
      lists++
      return lists % 2 === 1
        ? (answer as { signature: string }[]).filter((each) => each.signature !== signatureOf(own))
        : answer
    }
    const signature = await it.submit(own, true)
    for (let round = 0; round < 3; round++) await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'finalized', err: null })
  })

  it('has not expired because a node answers shorter pages than others do', async () => {
    const it = await onOneNode(blind)
    const signature = await it.submit(it.build())
    it.told.lie = (method, answer) =>
      method === 'getSignaturesForAddress' ? (answer as unknown[]).slice(0, 1) : blind(method, answer)
    it.chain.advance(300)
    it.past(it.build(7_000_000))
    it.chain.advance(300)
    it.past(it.build(8_000_000))
    for (let round = 0; round < 4; round++) {
      it.past(it.build(9_000_000 + round))
      await it.pass(120)
    }
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'submitted', err: null })
  })

  it('that was confirmed is not dropped: the history of its payer still lists it', async () => {
    const it = await onOneNode((_, answer) => answer)
    const signature = await it.submit(it.build())
    it.told.lie = (method, answer) => {
      if (method !== 'getSignatureStatuses') return answer
      const { context, value } = answer as { context: object; value: (object | null)[] }
      const confirmed = { confirmationStatus: 'confirmed', confirmations: 1 }
      return { context, value: value.map((each) => each && { ...each, ...confirmed }) }
    }
    await it.pass(1)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'confirmed' })
    it.told.lie = dark
    for (let round = 0; round < 3; round++) await it.pass(60)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'confirmed' })
    it.told.lie = blind
    await it.pass(60)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'finalized' })
  })

  it('and was not submitted here is unknown, and unproven', async () => {
    const it = await onOneNode(dark)
    expect(await it.read(signatureOf(it.build()))).toMatchObject({ lifecycle: 'unknown', absence: 'unproven' })
    Object.assign(it.services.chain, { provesAbsence: true })
    expect(await it.read(signatureOf(it.build(3)))).toMatchObject({ lifecycle: 'unknown', absence: 'proven' })
  })
})

describe('a transaction that two endpoints do not show', () => {
  it('is absent with proof only if none of them is far behind the other', async () => {
    const it = await onOneNode(blind)
    it.chain.advance(60)
    const { call } = it.services.chain
    const lag = { slots: 100 }
    const behind = async <T>(method: string, params: readonly unknown[]) => {
      const answer = await call<{ context: { slot: number } }>(method, params)
      return { ...answer, context: { ...answer.context, slot: answer.context.slot - lag.slots } } as T
    }
    Object.assign(it.services.chain, {
      provesAbsence: true,
      hasSeveralEndpoints: true,
      witnesses: async <T>(read: (of: { call: typeof call }) => Promise<T>) => [
        await read({ call }),
        await read({ call: behind }),
      ],
    })
    // It landed; the first endpoint denies it, and the second has not reached its slot.
    const landed = it.build()
    it.past(landed)
    const unknown = { lifecycle: 'unknown', absence: 'unproven' }
    expect(await it.read(signatureOf(landed))).toMatchObject(unknown)
    lag.slots = 2
    expect(await it.read(signatureOf(it.build(3)))).toMatchObject({ lifecycle: 'unknown', absence: 'proven' })
  })
})

describe('a transaction that ended as expired although it landed', () => {
  async function wrongEnd() {
    const it = await onOneNode(dark)
    // Two nodes that both do not know it.
    Object.assign(it.services.chain, { provesAbsence: true })
    const signature = await it.submit(it.build())
    for (let round = 0; round < 3; round++) await it.pass(120)
    expect(await it.read(signature)).toMatchObject({ lifecycle: 'failed', err: 'BlockhashExpired' })
    it.told.lie = (_, answer) => answer
    return { ...it, signature }
  }
  const corrected = ['transaction.submitted', 'transaction.failed', 'transaction.confirmed', 'transaction.finalized']

  it('is corrected with its events within a minute of a node that shows it', async () => {
    const it = await wrongEnd()
    await correctTransactions(it.services)
    await correctTransactions(it.services)
    expect(await it.events(it.signature)).toEqual(corrected)
    expect(await it.read(it.signature)).toMatchObject({ lifecycle: 'finalized', err: null, absence: null })
  })

  it('is corrected by the worker although a proposal cannot be read in the same tick', async () => {
    const it = await wrongEnd()
    const { services, clock } = it
    const { store, chain } = services
    clock.advance(MINUTE_MS - (clock.now() % MINUTE_MS))
    const signal = new AbortController().signal
    const now = clock.now()
    const genesis = await chain.genesisHash()
    const multisig = Keypair.generate().publicKey.toBase58()
    const row = storedProposal(1, now, { genesis, status: 'active', multisig, next_look_at: now })
    await store.write((tx) => insertProposal(tx, row))
    const context = { ...services, metrics: { clockFault: () => {} }, signal, stopping: signal }
    await expect(transactionWatcherWorker.tick(context)).rejects.toThrow('there is no multisig')
    expect(await it.events(it.signature)).toEqual(corrected)
  })

  it('is corrected by whoever reads it', async () => {
    const it = await wrongEnd()
    it.clock.advance(3 * DAY_MS)
    expect(await it.read(it.signature)).toMatchObject({ lifecycle: 'finalized', err: null })
    expect(await it.events(it.signature)).toEqual(corrected)
  })
})
