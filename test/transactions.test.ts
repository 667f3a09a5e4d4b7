/** The life of a transaction over HTTP: submitted with web3.js's signatures, followed on the embedded chain to its end. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as readJson } from 'node:stream/consumers'
import { base58 } from '@scure/base'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchTransactions } from '../src/operations/transactions/fetch-transactions.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { TIP_ACCOUNTS } from '../src/solana/bundles.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import { type Service, sharedService, startService } from './support/service.ts'
import { keypairOf, walletOn } from './support/wallets.ts'

const SOL = 1_000_000_000

const shared = sharedService()

async function start(own?: Service) {
  const service = own ?? (await shared())
  const { chain, wallet: payer } = await walletOn(service.services, 10n * BigInt(SOL))
  const to = Keypair.generate().publicKey
  const build = (lamports = SOL, signers = [payer], tip?: string) => {
    const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
    const toPubkey = tip === undefined ? undefined : new PublicKey(tip)
    if (toPubkey) instructions.push(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports }))
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign(signers)
    return transaction
  }
  return { ...service, service, chain, payer, to, build, round: () => followTransactions(service.services) }
}

const text = (transaction: VersionedTransaction) => Buffer.from(transaction.serialize()).toString('base64')
const submit = ({ request }: Pick<Service, 'request'>, body: object) => request('POST', '/v2/transactions', { body })
const events = async ({ request }: Pick<Service, 'request'>, id: string) =>
  (await request('GET', `/v2/events?order=asc&resource_id=${id}`)).json.data.map(
    ({ type, data, external_uid }: { type: string; data: { object: { source?: string } }; external_uid?: string }) =>
      [type, data.object.source, external_uid].filter(Boolean).join(' '),
  )

/** Does something after a request has looked for its transactions, and before its first one is simulated. */
function duringPreflight({ services }: Pick<Service, 'services'>, act: () => Promise<unknown>): void {
  const { chain } = services
  const { call } = chain
  let acted = false
  chain.call = async <T>(method: string, params: readonly unknown[]) => {
    if (method === 'simulateTransaction' && !acted) {
      acted = true
      await act()
    }
    return call<T>(method, params)
  }
}

describe('a submitted transaction', () => {
  it('in base58 is refused by that, whatever its length', async () => {
    const it = await start()
    const raw = base58.encode(it.build().serialize())
    for (const length of [0, 1, 2, 3]) {
      const { status, json } = await submit(it, { transaction: raw.slice(length) })
      expect(status).toBe(400)
      expect(json.error.message).toMatch(/base58/)
    }
  })

  it('whose payer has no account is refused, and names it', async () => {
    const it = await start()
    const poor = Keypair.generate()
    const { blockhash: recentBlockhash } = it.chain.latestBlockhash()
    const instructions = [SystemProgram.transfer({ fromPubkey: poor.publicKey, toPubkey: it.to, lamports: 1 })]
    const message = new TransactionMessage({ payerKey: poor.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([poor])
    const { status, json } = await submit(it, { transaction: text(transaction) })
    expect([status, json.error.code]).toEqual([400, 'bad_request'])
    expect(json.error.message).toContain(`has never held SOL: account ${poor.publicKey.toBase58()}`)
  })

  it('goes from submitted to finalized on Tower, each step one event', async () => {
    const it = await start(await startService({ settings: { consensus: 'tower' } }))
    const transaction = text(it.build())
    const tracked_resource = { resource_type: 'order', resource_id: 'order-7', related_events: ['token.created'] }
    const { status, json } = await submit(it, { transaction, tracked_resource, externalUid: 'u:1' })
    expect([status, Object.keys(json.data)]).toEqual([200, ['signature']])
    const { signature } = json.data
    const read = async () => (await it.request('GET', `/v2/transactions/${signature}`)).json.data
    // A slot takes 400 ms of the machine's time: a busy one may have come to the next.
    const seen = await read()
    expect(seen).toMatchObject({ signature, err: null })
    expect(['processing processed', 'confirmed confirmed']).toContain(`${seen.lifecycle} ${seen.confirmation_status}`)
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(BigInt(SOL))
    it.chain.advance(1)
    it.clock.advance(10_000)
    await it.round()
    expect(await read()).toMatchObject({ lifecycle: 'confirmed', confirmation_status: 'confirmed' })
    it.chain.advance(20)
    it.clock.advance(10_000)
    await it.round()
    expect(await read()).toMatchObject({ lifecycle: 'finalized', confirmation_status: 'finalized', err: null })
    await it.round()
    expect(await events(it, signature)).toEqual([
      'transaction.submitted u:1',
      'transaction.confirmed u:1',
      'transaction.finalized u:1',
    ])
    expect(await events(it, 'order-7')).toEqual(['token.created hint u:1'])
  })

  it('is confirmed and finalized on Alpenglow by one look, in this order, with as many confirmations', async () => {
    const it = await start(await startService({ settings: { consensus: 'alpenglow' } }))
    const { signature } = (await submit(it, { transaction: text(it.build()), externalUid: 'u:1' })).json.data
    it.chain.advance(1)
    it.clock.advance(10_000)
    await it.round()
    const { json } = await it.request('GET', `/v2/transactions/${signature}`)
    expect(json.data).toMatchObject({ lifecycle: 'finalized', confirmation_status: 'finalized', confirmations: 32 })
    expect(await events(it, signature)).toEqual([
      'transaction.submitted u:1',
      'transaction.confirmed u:1',
      'transaction.finalized u:1',
    ])
  })

  it('that is submitted twice is one', async () => {
    const it = await start()
    const transaction = text(it.build())
    const answers = await Promise.all([
      submit(it, { transaction }),
      submit(it, { transaction }),
      submit(it, { transaction }),
    ])
    const [signature] = answers.map(({ json }) => json.data.signature)
    expect(answers.map(({ status, json }) => [status, json.data.signature])).toEqual(Array(3).fill([200, signature]))
    expect(await events(it, signature)).toEqual(['transaction.submitted'])
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(BigInt(SOL))
  })

  it('that would fail is refused with the program, the reason and the log, and nothing is stored', async () => {
    const it = await start(await startService())
    const { status, json } = await submit(it, { transaction: text(it.build(50 * SOL)) })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'transaction'])
    expect(json.error.message).toContain('System')
    expect(json.error.details.error).toMatchObject({ program: 'System program', code: 1, instruction: 0 })
    expect(json.error.details.logs.join()).toContain('insufficient lamports')
    expect((await it.request('GET', '/v2/events')).json.data).toEqual([])
  })

  it('that fails all the same is `failed` with its error once it is confirmed', async () => {
    const it = await start()
    const tracked_resource = { resource_type: 'order', resource_id: 'order-8', related_events: ['token.created'] }
    const body = { transaction: text(it.build(50 * SOL)), skip_preflight: true, tracked_resource }
    const { signature } = (await submit(it, body)).json.data
    it.chain.advance(30)
    it.clock.advance(10_000)
    await it.round()
    const { json } = await it.request('GET', `/v2/transactions/${signature}`)
    expect(json.data).toMatchObject({ lifecycle: 'failed', err: { InstructionError: [0, { Custom: 1 }] } })
    expect(json.data.error).toMatchObject({
      program: 'System program',
      message: expect.stringMatching(/too few|lamports|SOL/),
    })
    expect(await events(it, signature)).toEqual(['transaction.submitted', 'transaction.failed'])
    expect(await cataloguedTypes(it)).toContain('transaction.failed')
    expect(await events(it, 'order-8')).toEqual([])
  })

  it('is listed with what its submission said, newest first, by lifecycle and page', async () => {
    const it = await start(await startService())
    const tracked_resource = { resource_type: 'order', resource_id: 'order-9', related_events: [] }
    const failing = {
      transaction: text(it.build(50 * SOL)),
      skip_preflight: true,
      tracked_resource,
      externalUid: 'u:9',
    }
    const first = (await submit(it, failing)).json.data.signature
    it.chain.advance(30)
    it.clock.advance(10_000)
    await it.round()
    const second = (await submit(it, { transaction: text(it.build()) })).json.data.signature
    const list = async (query: string) => (await it.request('GET', `/v2/transactions${query}`)).json
    const { data, meta } = await list('')
    expect(data.map(({ signature }: { signature: string }) => signature)).toEqual([second, first])
    expect(meta).toMatchObject({ count: 2, has_more: false })
    expect((await list('?lifecycle=failed')).data).toEqual([
      expect.objectContaining({ signature: first, tracked_resource, external_uid: 'u:9', bundle_id: null }),
    ])
    const { meta: page } = await list('?limit=1')
    expect((await list(`?limit=1&cursor=${page.next_cursor}`)).data[0].signature).toBe(first)
    expect((await it.request('GET', '/v2/transactions?lifecycle=unknown')).status).toBe(400)
    expect(
      (await it.request('GET', `/v2/transactions?lifecycle=failed&cursor=${page.next_cursor}`)).json.error.param,
    ).toBe('cursor')
  })

  it('shows what it changed once it is confirmed, to the lamport', async () => {
    const it = await start()
    const { signature } = (await submit(it, { transaction: text(it.build()) })).json.data
    it.chain.advance(2)
    const changed = await it.request('GET', `/v2/transactions/${signature}/balance-changes`)
    expect(changed.json.data).toMatchObject({ signature, fee: '5000' })
    const byAddress = Object.fromEntries(
      changed.json.data.balance_changes.map(({ address, change }: { address: string; change: string }) => [
        address,
        change,
      ]),
    )
    expect(byAddress).toEqual({ [it.to.toBase58()]: `${SOL}`, [it.payer.publicKey.toBase58()]: `-${SOL + 5000}` })
    const unknown = await it.request('GET', `/v2/transactions/${'2'.repeat(88)}/balance-changes`)
    expect([unknown.status, unknown.json.error.param]).toEqual([404, 'signature'])
  })

  it('without every signature names who must sign', async () => {
    const it = await start()
    const { status, json } = await submit(it, { transaction: text(it.build(SOL, [])) })
    expect([status, json.error.param]).toEqual([400, 'transaction'])
    expect(json.error.message).toContain(it.payer.publicKey.toBase58())
    expect(json.error.details.missing_signers).toEqual([it.payer.publicKey.toBase58()])
    const forged = it.build()
    forged.signatures[0]![5]! ^= 1
    const refused = await submit(it, { transaction: text(forged) })
    expect([refused.status, refused.json.error.details.invalid_signers]).toEqual([400, [it.payer.publicKey.toBase58()]])
  })

  it('with a signature of something else is refused the same way, whoever checks it', async () => {
    const it = await start(await startService())
    const honest = it.build()
    const named = async (transaction: VersionedTransaction, options: object = {}) => {
      const { status, json } = await submit(it, { transaction: text(transaction), ...options })
      return { status, ...json.error }
    }
    const other = it.build(2 * SOL)
    other.signatures = honest.signatures
    const expected = {
      status: 400,
      code: 'bad_request',
      param: 'transaction',
      message: `transaction: the signature of ${it.payer.publicKey.toBase58()} does not fit; change nothing after signing, and sign with that key`,
      details: { invalid_signers: [it.payer.publicKey.toBase58()] },
    }
    const [preflighted, skipped] = [await named(other), await named(other, { skip_preflight: true })]
    expect(preflighted).toMatchObject(expected)
    expect(skipped).toMatchObject(expected)
    expect((await it.request('GET', '/v2/events')).json.data).toEqual([])
    expect((await submit(it, { transaction: text(honest) })).status).toBe(200)
    // Its name is known from here on, and what it names is not answered for other bytes.
    expect(await named(other)).toMatchObject(expected)
    expect(await named(other, { skip_preflight: true })).toMatchObject(expected)
    const stale = it.build(3 * SOL)
    stale.message.recentBlockhash = Keypair.generate().publicKey.toBase58()
    expect(await named(stale)).toMatchObject(expected)
  })

  it('that never lands is `failed` with BlockhashExpired, once that is proven', async () => {
    const it = await start(await startService())
    const transaction = it.build()
    it.chain.advance(100)
    // Its blockhash is gone by the time it arrives: the node takes it without a look, and no leader does.
    const { json } = await submit(it, { transaction: text(transaction), skip_preflight: true })
    const { signature } = json.data
    const lifecycle = async () => (await it.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle
    expect(await lifecycle()).toBe('submitted')
    it.chain.advance(25)
    it.clock.advance(5_000)
    await it.round()
    expect(await lifecycle()).toBe('submitted')
    it.chain.advance((200 * it.chain.slotMs()) / 1000)
    it.clock.advance(10_000)
    await it.round()
    const { json: last } = await it.request('GET', `/v2/transactions/${signature}`)
    expect(last.data).toMatchObject({
      signature,
      lifecycle: 'failed',
      confirmation_status: null,
      err: 'BlockhashExpired',
      slot: 0,
      confirmations: 0,
      absence: 'proven',
      error: expect.objectContaining({ name: 'BlockhashExpired', hint: 'build, sign and send it again' }),
    })
    expect(await events(it, signature)).toEqual(['transaction.submitted', 'transaction.failed'])
  })

  it('that nobody submitted here is read from the chain, and `unknown` where that does not know it', async () => {
    const it = await start(await startService())
    const landed = it.chain.send(it.build().serialize())
    const { json } = await it.request('GET', `/v2/transactions/${landed.signature}`)
    // Confirmed where a slot has ended meanwhile.
    expect(json.data).toMatchObject({
      lifecycle: expect.stringMatching(/^(processing|confirmed|finalized)$/),
      slot: landed.slot,
    })
    const unsent = it.build(7)
    const { json: other } = await it.request('GET', `/v2/transactions/${signatureOf(unsent)}`)
    expect(other.data).toMatchObject({ lifecycle: 'unknown', confirmation_status: null, slot: 0 })
    const late = await submit(it, { transaction: Buffer.from(landed.raw).toString('base64') })
    expect([late.status, late.json.data.signature]).toEqual([200, landed.signature])
    expect(await events(it, landed.signature)).toEqual(['transaction.submitted'])
  })
})

describe('the watcher', () => {
  it('is not delayed by what a hint names, and makes no record of it', async () => {
    const it = await start(await startService())
    const hints = ['z'.repeat(44), it.payer.publicKey.toBase58(), 'So11111111111111111111111111111111111111112']
    const signatures = []
    for (const [i, resource_id] of hints.entries()) {
      const tracked_resource = { resource_type: 'token', resource_id, related_events: ['token.created'] }
      const sent = await submit(it, { transaction: text(it.build(2_000_000 + i)), tracked_resource })
      signatures.push(sent.json.data.signature)
    }
    it.chain.advance(30)
    it.clock.advance(10_000)
    await it.round()
    for (const signature of signatures) {
      expect(await events(it, signature)).toEqual([
        'transaction.submitted',
        'transaction.confirmed',
        'transaction.finalized',
      ])
    }
    for (const hint of hints) expect(await events(it, hint)).toEqual(['token.created hint'])
    expect((await it.request('GET', '/v2/tokens')).json.data).toEqual([])
  })

  it('leaves alone what was submitted to another chain', async () => {
    const it = await start(await startService())
    const expired = it.build()
    it.chain.advance(100)
    const { signature } = (await submit(it, { transaction: text(expired), skip_preflight: true })).json.data
    await it.services.store.write((tx) =>
      tx.updateTable('transactions').set({ genesis: 'another' }).where('signature', '=', signature).execute(),
    )
    for (let i = 0; i < 3; i++) {
      it.chain.advance(200)
      it.clock.advance(10_000)
      await it.round()
    }
    expect((await it.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle).toBe('submitted')
  })

  it('tells once that a token has become immutable, when everything landed between two looks', async () => {
    const it = await start(await startService())
    const address = it.payer.publicKey.toBase58()
    const sign = async (built: { transaction: string; tracked_resource: object }, ...keys: Keypair[]) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
      transaction.sign([it.payer, ...keys])
      const sent = await submit(it, { transaction: text(transaction), tracked_resource: built.tracked_resource })
      expect(sent.status).toBe(200)
      it.chain.advance(1)
    }
    const body = { payer: address, name: 'Token', symbol: 'T', uri: 'https://example.com/t.json', initial_supply: '1' }
    const { json } = await it.request('POST', '/v2/tokens', {
      body: { ...body, token_program: 'token2022', revoke_mint_authority: true },
    })
    const { mint, required_signers } = json.data
    await sign(json.data, keypairOf(required_signers.mint_secret_key))
    const last = await it.request('DELETE', `/v2/tokens/${mint}/authorities/metadata`, { body: { payer: address } })
    await sign(last.json.data)
    it.chain.advance(40)
    it.clock.advance(10_000)
    await it.round()
    expect((await events(it, mint)).sort()).toEqual([
      'token.created chain',
      'token.freeze_authority_revoked chain',
      expect.stringMatching(/^token.fully_immutable (chain|hint)$/),
      'token.mint_authority_revoked chain',
    ])
  })
})

describe('a bundle', () => {
  it('lands whole, under an id of its own', async () => {
    const it = await start()
    const bundle = [it.build(1_000_000), it.build(2_000_000)]
    const { status, json } = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
    expect(status).toBe(200)
    expect(json.data.signatures).toEqual([json.data.bundle_id])
    expect(json.data.transaction_signatures).toEqual(bundle.map(signatureOf))
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(3_000_000n)
    const [first, second] = await Promise.all(
      json.data.transaction_signatures.map((one: string) => it.request('GET', `/v2/transactions/${one}`)),
    )
    expect(first.json.data.slot).toBe(second.json.data.slot)
    const again = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
    expect(again.json.data).toEqual(json.data)
  })

  it('with one failing transaction has no effect, and is never sent in parts', async () => {
    const it = await start(await startService())
    const bundle = [it.build(1_000_000), it.build(50 * SOL)]
    const { json } = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
    for (let i = 0; i < 5; i++) {
      it.clock.advance(20_000)
      await it.round()
    }
    expect(it.chain.account(it.to.toBase58())).toBeNull()
    it.chain.advance(200)
    it.clock.advance(20_000)
    await it.round()
    for (const signature of json.data.transaction_signatures) {
      const { data } = (await it.request('GET', `/v2/transactions/${signature}`)).json
      expect([data.lifecycle, data.err]).toEqual(['failed', 'BlockhashExpired'])
    }
  })

  it('with one failing transaction reads failed at once, like each of its transactions, and is not sent again', async () => {
    const it = await start(await startService())
    const bundle = [it.build(1_000_000), it.build(50 * SOL)]
    const { json } = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
    for (const signature of json.data.transaction_signatures) {
      const { data } = (await it.request('GET', `/v2/transactions/${signature}`)).json
      expect([data.lifecycle, data.err]).toEqual(['failed', 'BundleFailed'])
    }
    // With money for all of it, it could land now.
    it.chain.airdrop(it.payer.publicKey.toBase58(), 100n * BigInt(SOL))
    for (let i = 0; i < 5; i++) {
      it.clock.advance(20_000)
      await it.round()
    }
    expect(it.chain.account(it.to.toBase58())).toBeNull()
    for (const signature of json.data.transaction_signatures) {
      expect(await events(it, signature)).toEqual(['transaction.submitted', 'transaction.failed'])
    }
  })

  it('that lands though the relay had given it up reads as what the chain says', async () => {
    const it = await start(await startService())
    const bundle = [it.build(1_000_000), it.build(50 * SOL)]
    const { json } = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
    const [first] = json.data.transaction_signatures
    const read = async () => (await it.request('GET', `/v2/transactions/${first}`)).json.data
    expect((await read()).lifecycle).toBe('failed')
    expect(it.chain.send(bundle[0]!.serialize()).err).toBeNull()
    it.chain.advance(40)
    it.clock.advance(20_000)
    await it.round()
    expect(await read()).toMatchObject({ lifecycle: 'finalized', err: null })
    expect((await events(it, first)).slice(1)).toEqual([
      'transaction.failed',
      'transaction.confirmed',
      'transaction.finalized',
    ])
  })

  it('reads failed once the block engine of relay-url reports so, and not before', async () => {
    const it = await start(await startService())
    let status: string | undefined = 'Pending'
    const paths: string[] = []
    const relay = createServer(async (request, response) => {
      const { method, params } = (await readJson(request)) as { method: string; params: string[][] }
      paths.push(`${method} ${request.url}`)
      // Once in a while a relay says nothing at all.
      if (status === undefined && method !== 'sendBundle') return
      const value = [...params[0]!.map((bundle_id) => ({ bundle_id, status, landed_slot: null })), null]
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 1 }, value } }))
    })
    await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done))
    onTestFinished(() => {
      relay.closeAllConnections()
      relay.close()
    })
    it.services.config.values['relay-url'] = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
    const bundle = it.build(1_000_000, [it.payer], TIP_ACCOUNTS[0])
    const { json } = await submit(it, { bundle: true, signed_transactions: [text(bundle)] })
    const [signature] = json.data.transaction_signatures
    const read = async () => {
      it.clock.advance(5_000)
      await it.round()
      return (await it.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle
    }
    expect(await read()).toBe('submitted')
    status = 'Invalid'
    expect(await read()).toBe('submitted')
    status = undefined
    expect(await read()).toBe('submitted')
    status = 'Failed'
    expect(await read()).toBe('failed')
    const asked = paths.length
    expect(await read()).toBe('failed')
    expect(paths.length).toBe(asked)
    expect(new Set(paths)).toEqual(
      new Set(['sendBundle /api/v1/bundles', 'getInflightBundleStatuses /api/v1/getInflightBundleStatuses']),
    )
  })

  it('is never sent in parts, whoever submits its transactions besides', async () => {
    const it = await start(await startService())
    const [a, b, c] = [it.build(1_000_000), it.build(2_000_000), it.build(3_000_000)]
    const bundle = (...parts: VersionedTransaction[]) =>
      submit(it, { bundle: true, signed_transactions: parts.map(text) })
    const answers = await Promise.all([bundle(a, b), bundle(a, c), submit(it, { transaction: text(a) })])
    const accepted = answers.filter(({ status }) => status === 200)
    expect(accepted.length).toBe(1)
    for (const { json } of answers.filter(({ status }) => status !== 200)) {
      expect([json.error.code, json.error.message]).toEqual(['bad_request', expect.stringMatching(/follow|submitted/)])
      expect(json.error.message).not.toContain('sign it again with')
    }
    it.clock.advance(20_000)
    await it.round()
    const sums = [3_000_000n, 4_000_000n, 1_000_000n]
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(sums[answers.indexOf(accepted[0]!)])
  })

  it('says how its first transaction was submitted, though another request sent that one meanwhile', async () => {
    const it = await start(await startService())
    const [a, b] = [it.build(1_000_000), it.build(2_000_000)]
    const bundle = { bundle: true, signed_transactions: [a, b].map(text) }
    duringPreflight(it, () => submit(it, { transaction: text(a) }))
    const { status, json } = await submit(it, bundle)
    expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'signed_transactions.0'])
    expect(json.error.message).toContain('signed_transactions.0 was submitted alone before')
    expect(json.error.message).toContain(`follow ${signatureOf(a)}`)
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(1_000_000n)
  })

  it('that another request has sent meanwhile is answered as a repetition', async () => {
    const it = await start(await startService())
    const bundle = { bundle: true, signed_transactions: [it.build(1_000_000), it.build(2_000_000)].map(text) }
    let other: Awaited<ReturnType<typeof submit>> | undefined
    duringPreflight(it, async () => {
      other = await submit(it, bundle)
    })
    const { status, json } = await submit(it, bundle)
    expect([status, json.data]).toEqual([200, other?.json.data])
    expect(it.chain.account(it.to.toBase58())?.lamports).toBe(3_000_000n)
  })

  it('that the relay refuses, or that has no relay, is an internal_error that says so', async () => {
    const it = await start(await startService())
    const relay = createServer((_, response) => {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'bundle rate limit' } }))
    })
    await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done))
    onTestFinished(() => void relay.close())
    it.services.config.values['relay-url'] = `http://user:secret@127.0.0.1:${(relay.address() as AddressInfo).port}`
    const bare = await submit(it, { bundle: true, signed_transactions: [text(it.build(1_000_000))] })
    expect([bare.status, bare.json.error.param]).toEqual([400, 'signed_transactions'])
    const [tip] = bare.json.error.details.tip_accounts
    const tipped = it.build(1_000_000, [it.payer], tip)
    const { status, json } = await submit(it, { bundle: true, signed_transactions: [text(tipped)] })
    expect([status, json.error.code]).toEqual([500, 'internal_error'])
    expect(json.error.message).toBe('The relay refuses the bundle: bundle rate limit')
    const { data } = (await it.request('GET', `/v2/transactions/${signatureOf(tipped)}`)).json
    expect(data.lifecycle).toBe('submitted')
  })

  it('names the transaction that is not signed, is there twice or was sent alone', async () => {
    const it = await start(await startService())
    const good = it.build(1_000_000)
    const ask = async (...bundle: VersionedTransaction[]) => {
      const { status, json } = await submit(it, { bundle: true, signed_transactions: bundle.map(text) })
      return [status, json.error.param]
    }
    expect(await ask(good, it.build(2_000_000, []))).toEqual([400, 'signed_transactions.1'])
    expect(await ask(good, good)).toEqual([400, 'signed_transactions.1'])
    await submit(it, { transaction: text(good) })
    expect(await ask(it.build(3_000_000), good)).toEqual([400, 'signed_transactions.1'])
  })
})

describe('executed transactions that are read at once', () => {
  it('are there although the node’s answer for one cannot be read', async () => {
    const it = await start()
    const landed = it.build(1_000_000)
    await submit(it, { transaction: text(landed) })
    const torn = base58.encode(Buffer.alloc(64, 9))
    const { chain } = it.services
    const call = async (method: string, params: [string]) =>
      params[0] === torn ? { slot: 1, transaction: ['AA==', 'base64'], meta: null } : chain.call(method, params)
    const node = Object.assign(Object.create(chain), { call })
    const read = async () => {
      const signatures = [torn, signatureOf(landed)]
      const { transactions } = await fetchTransactions({ chain: node }, { mode: 'unsigned', signatures })
      return transactions.map((each) => each?.signature)
    }
    await expect.poll(read).toEqual([undefined, signatureOf(landed)])
  })
})

const signatureOf = ({ signatures }: VersionedTransaction) => base58.encode(signatures[0]!)
