/** Stored transactions as people look for them: lists by filters and pages, and what one transaction does. */
import { base58 } from '@scure/base'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoredTransaction } from '../src/api/transactions.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { findTransaction, pruneRawTransactions } from '../src/store/transactions/transactions.ts'
import { sharedService, startService } from './support/service.ts'
import { walletOn } from './support/wallets.ts'

const SOL = 1_000_000_000
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

const shared = sharedService()

async function start(own?: Awaited<ReturnType<typeof startService>>) {
  const service = own ?? (await shared())
  const { chain, wallet: payer } = await walletOn(service.services, 10n * BigInt(SOL))
  const to = Keypair.generate().publicKey
  const sign = (instructions: TransactionInstruction[], tables: AddressLookupTableAccount[] = []) => {
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message(tables))
    transaction.sign([payer])
    return Buffer.from(transaction.serialize()).toString('base64')
  }
  const pay = (lamports = SOL) => SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })
  const submit = async (body: object) => {
    const { json } = await service.request('POST', '/v2/transactions', { body })
    return (json.data.signature ?? json.data) as string
  }
  const read = async (path: string) => (await service.request('GET', `/v2/transactions${path}`)).json
  const round = async (slots: number) => {
    chain.advance(slots)
    service.clock.advance(20_000)
    await followTransactions(service.services)
  }
  return { ...service, chain, payer, to, sign, pay, submit, read, round }
}

const signatureOf = (transaction: string) =>
  base58.encode(VersionedTransaction.deserialize(Buffer.from(transaction, 'base64')).signatures[0]!)

describe('stored transactions', () => {
  it('are listed by every filter and combination of filters, and pages of any size have each once', async () => {
    const it = await start(await startService())
    const tracked = (id: string) => ({ resource_type: 'order', resource_id: id, related_events: [] })
    let lamports = 1_000_000
    // Of each pair of own id and resource one lands, one fails on chain, and one is still on its way.
    const names = ['a', 'b', undefined] as const
    for (const fate of ['lands', 'fails', 'waits'] as const) {
      if (fate === 'waits') await it.round(40)
      for (const uid of names) {
        for (const order of names) {
          lamports += 1
          const transaction = it.sign([it.pay(fate === 'fails' ? 50 * SOL + lamports : lamports)])
          await it.submit({
            transaction,
            skip_preflight: true,
            ...(uid === undefined ? {} : { externalUid: `uid-${uid}` }),
            ...(order === undefined ? {} : { tracked_resource: tracked(`order-${order}`) }),
          })
        }
      }
      if (fate === 'lands') {
        const bundle = [it.sign([it.pay(11)]), it.sign([it.pay(12)])]
        await it.submit({ bundle: true, signed_transactions: bundle, externalUid: 'uid-a' })
      }
    }
    const all: StoredTransaction[] = (await it.read('?limit=100')).data
    expect(all).toHaveLength(29)
    const bundle = all.find(({ bundle_id }) => bundle_id !== null)?.bundle_id ?? ''
    expect([...new Set(all.map(({ lifecycle }) => lifecycle))].length).toBeGreaterThan(2)

    const filters = {
      lifecycle: ['submitted', 'processing', 'confirmed', 'finalized', 'failed'],
      external_uid: ['uid-a', 'uid-b', 'uid-none'],
      resource_id: ['order-a', 'order-b', 'order-none'],
      bundle_id: [bundle, 'no-bundle'],
    }
    type Filters = { [K in keyof typeof filters]?: string }
    const fits = (row: StoredTransaction, wanted: Filters) =>
      (wanted.lifecycle === undefined || row.lifecycle === wanted.lifecycle) &&
      (wanted.external_uid === undefined || row.external_uid === wanted.external_uid) &&
      (wanted.resource_id === undefined || row.tracked_resource?.resource_id === wanted.resource_id) &&
      (wanted.bundle_id === undefined || row.bundle_id === wanted.bundle_id)
    const anyFilters: fc.Arbitrary<Filters> = fc.record(
      Object.fromEntries(Object.entries(filters).map(([name, values]) => [name, fc.constantFrom(...values)])),
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(anyFilters, fc.integer({ min: 1, max: 7 }), async (wanted, limit) => {
        const found: string[] = []
        let cursor: string | null = null
        do {
          const query = new URLSearchParams({ ...wanted, limit: `${limit}`, ...(cursor === null ? {} : { cursor }) })
          const { data, meta } = await it.read(`?${query}`)
          expect(data.length).toBeLessThanOrEqual(limit)
          found.push(...data.map(({ signature }: StoredTransaction) => signature))
          cursor = meta.next_cursor
        } while (cursor !== null)
        expect(found).toEqual(all.filter((row) => fits(row, wanted)).map(({ signature }) => signature))
      }),
      { numRuns: 60 },
    )
  })

  it('are read one by one with what their submission said, and others without it', async () => {
    const it = await start()
    const tracked_resource = { resource_type: 'order', resource_id: 'order-1', related_events: [] }
    const transaction = it.sign([it.pay()])
    const signature = await it.submit({ transaction, externalUid: 'uid-1', tracked_resource })
    expect((await it.read(`/${signature}`)).data).toMatchObject({
      tracked_resource,
      external_uid: 'uid-1',
      bundle_id: null,
      created_at: expect.stringMatching(/^2026-/),
      bytes_removed_at: null,
    })
    const { signature: other } = it.chain.send(Buffer.from(it.sign([it.pay(7)]), 'base64'))
    expect((await it.read(`/${other}`)).data).not.toHaveProperty('created_at')
  })
})

describe('the content of a transaction', () => {
  it('is every instruction with its accounts and arguments, before it lands and after', async () => {
    const it = await start()
    const memo = new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: [],
      data: Buffer.from('rent for \u202emay\n  instruction 9: System'),
    })
    const transaction = it.sign([it.pay(), memo])
    const signature = await it.submit({ transaction, skip_preflight: true })
    const { data } = await it.read(`/${signature}/content`)
    expect(data).toMatchObject({
      signature,
      source: 'stored',
      transaction,
      version: '0',
      fee_payer: it.payer.publicKey.toBase58(),
      signers: [it.payer.publicKey.toBase58()],
      nonce_account: null,
      size: Buffer.from(transaction, 'base64').length,
      fee: '5000',
    })
    const text: string = data.plan.join('\n')
    expect(text).toContain('transfer')
    expect(text).toContain('lamports  1 SOL')
    expect(text).toMatch(new RegExp(`ws +${it.payer.publicKey.toBase58()} +source`))
    expect(text).toMatch(new RegExp(`w- +${it.to.toBase58()} +destination`))
    // A memo is a stranger's text: it has no line of its own and no character that turns others around.
    expect(text).toContain('rent for \\u202emay')
    expect(text).not.toMatch(/^ *instruction 9: System/m)
    await it.round(40)
    expect((await it.read(`/${signature}/content`)).data.plan).toEqual(data.plan)
  })

  it('is read from the chain once its bytes are removed, and the record says so', async () => {
    const it = await start(await startService())
    const transaction = it.sign([it.pay()])
    const signature = await it.submit({ transaction })
    const before = (await it.read(`/${signature}/content`)).data
    await it.round(40)
    await it.round(40)
    const now = it.clock.now() + 1_000
    await it.services.store.write((tx) => pruneRawTransactions(tx, { before: now, now }, 10))
    expect((await findTransaction(it.services.store.db, signature))?.raw).toHaveLength(0)
    expect((await it.read(`/${signature}/content`)).data).toEqual({ ...before, source: 'chain' })
    expect((await it.read('')).data).toMatchObject([
      { signature, bytes_removed_at: new Date(now).toISOString(), lifecycle: 'finalized' },
    ])
  })

  it('of a transaction of another tool is read from the chain, and one that no node has is not found', async () => {
    const it = await start()
    const landed = it.sign([it.pay(7)])
    it.chain.send(Buffer.from(landed, 'base64'))
    it.chain.advance(3)
    const { data } = await it.read(`/${signatureOf(landed)}/content`)
    expect(data).toMatchObject({ source: 'chain', transaction: landed })
    const unsent = signatureOf(it.sign([it.pay(8)]))
    const { status, json } = await it.request('GET', `/v2/transactions/${unsent}/content`)
    expect([status, json.error.code, json.error.message]).toEqual([
      404,
      'not_found',
      `It was not submitted here, and the node has no confirmed transaction ${unsent}`,
    ])
  })

  it('names the addresses of lookup tables once it is executed, and their places before', async () => {
    const it = await start()
    const authority = { authority: it.payer.publicKey, payer: it.payer.publicKey }
    const recentSlot = it.chain.slot() - 1
    const [create, address] = AddressLookupTableProgram.createLookupTable({ ...authority, recentSlot })
    const extended = { ...authority, lookupTable: address, addresses: [it.to] }
    it.chain.send(Buffer.from(it.sign([create, AddressLookupTableProgram.extendLookupTable(extended)]), 'base64'))
    it.chain.advance(3)
    const state = AddressLookupTableAccount.deserialize(it.chain.account(address.toBase58())!.data)
    const transaction = it.sign([it.pay()], [new AddressLookupTableAccount({ key: address, state })])
    it.chain.advance(400)
    const late = await it.submit({ transaction, skip_preflight: true })
    expect((await it.read(`/${late}/content`)).data.plan.join('\n')).toContain(`${address.toBase58()}[0]`)
    const fresh = it.sign([it.pay()], [new AddressLookupTableAccount({ key: address, state })])
    const signature = await it.submit({ transaction: fresh })
    await it.round(3)
    const plan = (await it.read(`/${signature}/content`)).data.plan.join('\n')
    expect(plan).toContain(`${it.to.toBase58()}  destination`)
    expect(plan).not.toContain('[0]')
  })

  it('has no bytes while its bundle can land, because they must not be sent alone', async () => {
    const it = await start(await startService())
    const bundle = [it.sign([it.pay(1_000_000)]), it.sign([it.pay(50 * SOL)])]
    await it.submit({ bundle: true, signed_transactions: bundle })
    const [first = ''] = bundle.map(signatureOf)
    const { data } = await it.read(`/${first}/content`)
    expect(data).toMatchObject({ source: 'stored', transaction: null })
    expect(data.plan.join('\n')).toContain('0.001 SOL')
    await it.round(40)
    await it.round(400)
    expect((await it.read(`/${first}/content`)).data.transaction).toBe(bundle[0])
  })
})
