/** Transactions that wait for their signatures: given a fresh blockhash, and submitted in one version alone. */
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withBlockhash } from '../src/chain/sending/cosign.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { addressBytes, addressOf } from '../src/solana/addresses.ts'
import { TIP_ACCOUNTS } from '../src/solana/bundles.ts'
import { slotTimeOf } from '../src/solana/cluster-settings.ts'
import { compileTransaction } from '../src/solana/compiling.ts'
import { decodeWireTransaction, signatureOffset } from '../src/solana/messages.ts'
import { signFresh } from '../src/solana/signatures.ts'
import { pruneRefreshedMessages } from '../src/store/transactions/refreshed-messages.ts'
import { type Service, sharedService, startService } from './support/service.ts'
import { SOL, walletOn } from './support/wallets.ts'

const CONFIG = {
  priorityFeeLamports: 1n,
  computeUnitLimit: 200_000,
  loadedAccountsDataSizeLimit: 65_536,
  heapSize: null,
}
/** More than the 150 blocks of a blockhash at 400 ms a slot. */
const EXPIRY_SECONDS = 120

const shared = sharedService()

async function start(own?: Service) {
  const service = own ?? (await shared())
  const { chain, wallet: payer, address } = await walletOn(service.services)
  const post = (path: string, body: object) => service.request('POST', path, { body })
  return {
    ...service,
    chain,
    payer,
    address,
    /** A transfer of one SOL, which can be carried out any number of times. */
    transfer(to = Keypair.generate().publicKey, lamports = SOL) {
      const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
      const { blockhash: recentBlockhash } = chain.latestBlockhash()
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
      return Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize()).toString('base64')
    },
    sign: (transaction: string, key = payer) => {
      const raw = Uint8Array.from(Buffer.from(transaction, 'base64'))
      const { message, messageBytes } = decodeWireTransaction(raw)
      raw.set(
        signFresh(key.secretKey, messageBytes),
        signatureOffset(raw, message.keys.indexOf(key.publicKey.toBase58())),
      )
      return Buffer.from(raw).toString('base64')
    },
    refresh: (transactions: string[], more: object = {}) => post('/v2/transactions/refresh', { transactions, ...more }),
    submit: (transaction: string) => post('/v2/transactions', { transaction }),
    token: async () =>
      (
        await post('/v2/tokens', {
          payer: address,
          name: 'Cold',
          symbol: 'CLD',
          uri: 'https://example.com/c.json',
          initial_supply: '1000',
          token_program: 'token2022',
        })
      ).json.data,
    /** Time passes on the chain, and the watcher looks. */
    async pass(seconds: number) {
      chain.advance(seconds)
      service.clock.advance(seconds * 1000)
      await followTransactions(service.services)
    },
  }
}

const decoded = (text: string) => decodeWireTransaction(Buffer.from(text, 'base64'))

describe('a fresh blockhash', () => {
  it('is the only difference, in every version of transactions', () => {
    const blockhash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(blockhash, blockhash, key, key, fc.boolean(), fc.uint8Array({ maxLength: 300 }), (...drawn) => {
        const [one, other, payer, program, isVersion1, data] = drawn
        fc.pre(Buffer.compare(payer, program) !== 0)
        const build = (recentBlockhash: string) =>
          compileTransaction({
            payer: { bytes: payer },
            recentBlockhash,
            instructions: [{ programId: { bytes: program }, keys: [], data }],
            config: isVersion1 ? CONFIG : undefined,
            bytesOf: ({ bytes }) => bytes,
          }).transaction
        const signed = Uint8Array.from(build(addressOf(one)))
        signed.fill(7, signatureOffset(signed, 0), signatureOffset(signed, 0) + 64)
        expect(withBlockhash(signed, addressOf(other))).toEqual(Uint8Array.from(build(addressOf(other))))
      }),
    )
  })

  it('is put into a build whose generated key signs again, and nobody else has to', async () => {
    const it = await start()
    const built = await it.token()
    await it.pass(EXPIRY_SECONDS)
    const { mint, generated_keys, transaction } = built
    const { status, json } = await it.refresh([transaction], { generated_keys })
    expect([status, json.data.requiredSigners, json.data.generated_keys]).toEqual([200, [it.address], generated_keys])
    const [fresh] = json.data.transactions
    const [before, after] = [decoded(transaction), decoded(fresh)]
    expect(after.messageBytes.length).toBe(before.messageBytes.length)
    const { blockhashOffset, recentBlockhash } = after.message
    const patched = Uint8Array.from(before.messageBytes)
    patched.set(addressBytes(recentBlockhash), blockhashOffset)
    expect(after.messageBytes).toEqual(patched)
    expect(recentBlockhash).not.toBe(before.message.recentBlockhash)
    expect(json.data.last_valid_block_height).toBeGreaterThan(built.last_valid_block_height)
    expect((await it.submit(it.sign(fresh))).status).toBe(200)
    expect((await it.request('GET', `/v2/tokens/${mint}`)).status).toBe(200)
  })

  it('is put into what was refreshed before, with the keys of the build', async () => {
    const it = await start()
    const { transaction, generated_keys } = await it.token()
    let last = transaction
    for (let round = 0; round < 3; round++) {
      await it.pass(EXPIRY_SECONDS)
      last = (await it.refresh([last], { generated_keys })).json.data.transactions[0]
    }
    expect((await it.submit(it.sign(last))).status).toBe(200)
  })

  it('is refused for what somebody else has signed, who is named', async () => {
    const it = await start()
    const { transaction, generated_keys } = await it.token()
    const signed = it.sign(transaction)
    const { status, json } = await it.refresh([signed], { generated_keys })
    expect([status, json.error.param, json.error.details]).toEqual([400, 'transactions.0', { signed_by: [it.address] }])
  })

  it('is refused with keys of another build, of another server, or torn ones', async () => {
    const it = await start(await startService())
    const [one, other] = [await it.token(), await it.token()]
    const far = await start()
    const messages = []
    for (const generated_keys of [other.generated_keys, (await far.token()).generated_keys, 'AAAA']) {
      const { status, json } = await it.refresh([one.transaction], { generated_keys })
      expect([status, json.error.param]).toEqual([400, 'generated_keys'])
      messages.push(json.error.message)
    }
    expect(messages[0]).toContain('belong to another build')
    expect(messages[1]).toContain('cannot be opened')
    expect(messages[2]).toContain('cannot be opened')
  })

  it('is refused for a durable nonce, which does not expire', async () => {
    const it = await start()
    const nonce = Keypair.generate().publicKey
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce, authorizedPubkey: it.payer.publicKey })
    const { blockhash: recentBlockhash } = it.chain.latestBlockhash()
    const message = new TransactionMessage({ payerKey: it.payer.publicKey, recentBlockhash, instructions: [advance] })
    const transaction = Buffer.from(new VersionedTransaction(message.compileToV0Message()).serialize())
    const { status, json } = await it.refresh([transaction.toString('base64')])
    expect([status, json.error.details]).toEqual([400, { nonce_account: nonce.toBase58() }])
  })
})

describe('of the versions of one transaction', () => {
  it('none is refreshed while another is under way or has landed, until that is proven expired', async () => {
    const it = await start()
    const first = it.transfer()
    const { signature } = (await it.submit(it.sign(first))).json.data
    for (const lifecycle of ['submitted', 'confirmed', 'finalized']) {
      const { status, json } = await it.refresh([first])
      expect([status, json.error.details.signature]).toEqual([400, signature])
      expect(json.error.message).toContain(lifecycle === 'submitted' ? 'follow' : 'build it again')
      await it.pass(30)
    }
  })

  it('one is submitted, and another only once that is proven expired', async () => {
    const it = await start()
    const first = it.transfer()
    it.chain.advance(1)
    const second = (await it.refresh([first])).json.data.transactions[0]
    it.chain.advance(1)
    const third = (await it.refresh([second])).json.data.transactions[0]
    // A node that takes nothing: what is submitted is stored, and does not land.
    const { chain } = it.services
    const { call } = chain
    let isDeaf = true
    chain.call = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
      if (isDeaf && method === 'sendTransaction') throw new Error('deaf')
      return call<T>(method, params)
    }
    const { signature } = (await it.submit(it.sign(second))).json.data
    for (const version of [first, third]) {
      const { status, json } = await it.submit(it.sign(version))
      expect([status, json.error.details]).toEqual([400, { signature, lifecycle: 'submitted' }])
    }
    expect((await it.refresh([third])).json.error.details.signature).toBe(signature)
    expect((await it.submit(it.sign(second))).json.data).toEqual({ signature })
    for (let round = 0; round < 4; round++) await it.pass(EXPIRY_SECONDS)
    expect((await it.request('GET', `/v2/transactions/${signature}`)).json.data).toMatchObject({
      lifecycle: 'failed',
      err: 'BlockhashExpired',
    })
    isDeaf = false
    const fourth = (await it.refresh([third])).json.data.transactions[0]
    expect((await it.submit(it.sign(fourth))).status).toBe(200)
    await it.pass(1)
    expect((await it.refresh([first])).json.error.message).toContain('build it again to do the same once more')
  })

  it('one is submitted alone or in a bundle, and the other way no more', async () => {
    const it = await start()
    const first = it.transfer(new PublicKey(TIP_ACCOUNTS[0]))
    it.chain.advance(1)
    const second = (await it.refresh([first])).json.data.transactions[0]
    const { signature } = (await it.submit(it.sign(second))).json.data
    const bundle = { bundle: true, signed_transactions: [it.sign(first)] }
    const { status, json } = await it.request('POST', '/v2/transactions', { body: bundle })
    expect([status, json.error.param, json.error.details.signature]).toEqual([400, 'signed_transactions.0', signature])
  })

  it('one that failed keeps the others back until that is final, because a fork may undo it', async () => {
    const it = await start(await startService({ settings: { consensus: 'tower' } }))
    const first = it.transfer(undefined, 500n * SOL)
    it.chain.advance(1)
    const second = (await it.refresh([first])).json.data.transactions[0]
    const unchecked = { transaction: it.sign(first), skip_preflight: true }
    const { signature } = (await it.request('POST', '/v2/transactions', { body: unchecked })).json.data
    await it.pass(3)
    const { data } = (await it.request('GET', `/v2/transactions/${signature}`)).json
    expect([data.lifecycle, data.confirmation_status]).toEqual(['failed', 'confirmed'])
    it.chain.airdrop(it.address, 1_000n * SOL)
    for (const { status, json } of [await it.refresh([first]), await it.submit(it.sign(second))]) {
      expect([status, json.error.details]).toEqual([400, { signature, lifecycle: 'failed' }])
      expect(json.error.message).toContain('it may still land until the failure is final')
    }
    await it.pass(30)
    await it.pass(30)
    const third = (await it.refresh([first])).json.data.transactions[0]
    expect((await it.submit(it.sign(third))).status).toBe(200)
  })

  it('one of a bundle that its relay gave up keeps the others back until it is proven expired', async () => {
    const it = await start()
    const parts = [it.transfer(new PublicKey(TIP_ACCOUNTS[0])), it.transfer(undefined, 500n * SOL)]
    it.chain.advance(1)
    const [second] = (await it.refresh([parts[0]!])).json.data.transactions
    const body = { bundle: true, signed_transactions: parts.map((part) => it.sign(part)) }
    const { json } = await it.request('POST', '/v2/transactions', { body })
    const [signature] = json.data.transaction_signatures
    const read = async () => (await it.request('GET', `/v2/transactions/${signature}`)).json.data.err
    expect(await read()).toBe('BundleFailed')
    for (const { status, json } of [await it.refresh([parts[0]!]), await it.submit(it.sign(second))]) {
      expect([status, json.error.details]).toEqual([400, { signature, lifecycle: 'failed' }])
    }
    for (let round = 0; round < 4; round++) await it.pass(EXPIRY_SECONDS)
    expect((await it.refresh([parts[0]!])).status).toBe(200)
  })

  it('two that arrive at once are one', async () => {
    const it = await start()
    const to = Keypair.generate().publicKey
    const first = it.transfer(to)
    it.chain.advance(1)
    const second = (await it.refresh([first])).json.data.transactions[0]
    const answers = await Promise.all([first, second].map((version) => it.submit(it.sign(version))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    await it.pass(1)
    expect(it.chain.account(to.toBase58())?.lamports).toBe(SOL)
  })

  it('one whose refresh is stored while its own submission is checked is refused too', async () => {
    const it = await start()
    const to = Keypair.generate().publicKey
    const first = it.transfer(to)
    it.chain.advance(1)
    const { store } = it.services
    const { write } = store
    let versions = 0
    // The refresh, and the submission of what it gave, are stored just before the write of the first version.
    Object.assign(store, {
      write: async (act: Parameters<typeof write>[0]) => {
        Object.assign(store, { write })
        const second = (await it.refresh([first])).json.data.transactions[0]
        versions += (await it.submit(it.sign(second))).status === 200 ? 1 : 0
        return write.call(store, act)
      },
    })
    expect([(await it.submit(it.sign(first))).status, versions]).toEqual([400, 1])
    await it.pass(1)
    expect(it.chain.account(to.toBase58())?.lamports).toBe(SOL)
  })

  it('a build of the same terms anew is another transaction', async () => {
    const it = await start()
    const to = Keypair.generate().publicKey
    const first = it.transfer(to)
    it.chain.advance(1)
    const second = (await it.refresh([first])).json.data.transactions[0]
    expect((await it.submit(it.sign(second))).status).toBe(200)
    await it.pass(1)
    const anew = it.transfer(to)
    it.chain.advance(1)
    const refreshed = (await it.refresh([anew])).json.data.transactions[0]
    expect((await it.submit(it.sign(refreshed))).status).toBe(200)
    expect(it.chain.account(to.toBase58())?.lamports).toBe(2n * SOL)
  })

  it('what is remembered of them is forgotten in time', async () => {
    const it = await start(await startService())
    const transfer = it.transfer()
    it.chain.advance(1)
    await it.refresh([transfer])
    const { store } = it.services
    const count = async () => (await store.db.selectFrom('refreshed_messages').selectAll().execute()).length
    expect(await count()).toBe(2)
    expect(await store.write((tx) => pruneRefreshedMessages(tx, it.clock.now() - 1, 100))).toBe(0)
    expect(await store.write((tx) => pruneRefreshedMessages(tx, it.clock.now(), 1))).toBe(1)
    expect(await store.write((tx) => pruneRefreshedMessages(tx, it.clock.now(), 100))).toBe(1)
    expect(await count()).toBe(0)
  })
})

describe('the time of a slot', () => {
  it('is that of all samples together', () => {
    const sample = (numSlots: unknown, samplePeriodSecs: unknown) => ({ slot: 1, numSlots, samplePeriodSecs })
    expect(slotTimeOf([sample(150, 60)])).toBe(400)
    expect(slotTimeOf([sample(240, 60), sample(160, 40)])).toBe(250)
    expect(slotTimeOf([sample(0, 60), sample(240, 60), null, sample('1', 60), sample(1, -1)])).toBe(250)
  })

  it('is not known from a hostile answer, whatever it is', () => {
    for (const answer of [
      null,
      {},
      'x',
      [],
      [{ numSlots: 1, samplePeriodSecs: 86_400 }],
      [{ numSlots: 1e15, samplePeriodSecs: 1 }],
    ]) {
      expect(slotTimeOf(answer)).toBeNull()
    }
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        const slotMs = slotTimeOf(answer)
        expect(slotMs === null || (slotMs >= 20 && slotMs <= 10_000)).toBe(true)
      }),
    )
  })

  it('is reported with the block height, and whether a blockhash is still good', async () => {
    const it = await start()
    const { blockhash } = it.chain.latestBlockhash()
    const read = async () => (await it.request('GET', `/v2/cluster?blockhash=${blockhash}`)).json.data
    const now = await read()
    expect(now).toMatchObject({ cluster: 'embedded', slot_ms: expect.any(Number), blockhash_valid: true })
    await it.pass(EXPIRY_SECONDS)
    const later = await read()
    expect(later.blockhash_valid).toBe(false)
    expect(later.block_height - now.block_height).toBeGreaterThanOrEqual(150)
  })
})
