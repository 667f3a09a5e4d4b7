/** Rounds of reconciliation: their calls, gaps after a stop, several daemons at once, forks, and strangers who name followed accounts. */
import { randomBytes } from 'node:crypto'
import { create, createCollection } from '@metaplex-foundation/mpl-core'
import { base58 } from '@scure/base'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { lookIntervalOf } from '../../src/following/reconciliation/rounds.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { waitingTransactions } from '../../src/store/following/chain-transactions.ts'
import { accountsAfter, followAccounts } from '../../src/store/following/followed-accounts.ts'
import { addressOf, assetsOn, eventsOf, lacksCore } from '../support/assets.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { rentOf } from '../support/rent.ts'
import { inSoak } from '../support/runs.ts'
import { actsOn, chainTransactionOf } from './acts.ts'

/** A service with a collection that was made through it, and a stranger who is its authority. */
async function withCollection() {
  const service = await startPlatform(null)
  const scene = await assetsOn(service)
  const acts = await actsOn(scene, 'past')
  const user = scene.funded(1_000n * 1_000_000_000n)
  const made = await scene.built('POST', '/v2/collections', {
    payer: addressOf(user),
    name: 'C',
    uri: 'https://example.com/c.json',
  })
  await scene.submit(made, [user])
  await acts.settle(1)
  const collection = made.collection as string
  const { instructions, context, signer, key } = await loadCore()
  const minting = (asset: Keypair, into = collection, as = user) =>
    instructions(
      create(context, {
        asset: signer(addressOf(asset)),
        collection: { publicKey: key(into) },
        payer: signer(addressOf(as)),
        authority: signer(addressOf(as)),
        name: 'A',
        uri: 'https://example.com/a.json',
      }),
    )
  const mint = (as = user, into = collection) => {
    const asset = Keypair.generate()
    const bytes = acts.sign(minting(asset, into, as), [as, asset])
    acts.past(bytes)
    acts.pass(1)
    return { asset: addressOf(asset), bytes }
  }
  const told = async (asset: string) => (await eventsOf(scene, asset)).map(({ type }) => type)
  const states = async () => {
    const genesis = await scene.services.chain.genesisHash()
    return { genesis, account: await accountsAfter(scene.services.store.db, { genesis, after: 0, limit: 100 }) }
  }
  return {
    ...scene,
    wallet: service.wallet,
    acts,
    user,
    collection,
    minting,
    mint,
    told,
    states,
    sdk: { instructions, context, signer, key },
  }
}

/** The services with every call to the node counted. */
function counted<S extends { chain: object }>(services: S) {
  const count = { calls: 0 }
  type Node = { call(method: string, params: readonly unknown[]): unknown }
  const node = services.chain as Node
  const chain = {
    ...services.chain,
    call(method: string, params: readonly unknown[]) {
      count.calls++
      return node.call(method, params)
    },
  }
  return { count, services: { ...services, chain } as S }
}

describe.skipIf(lacksCore)('a reconciliation round (needs Metaplex Core)', () => {
  it('continues after a stop where the last one ended, page by page, and reports in order', async () => {
    const { acts, services, user, collection, mint, told, states } = await withCollection()
    await acts.settle(3)
    const first = mint()
    // More than two pages, of which the oldest has what matters.
    for (let n = 0; n < 42; n++) {
      const toPubkey = new PublicKey(collection)
      acts.past(acts.sign([SystemProgram.transfer({ fromPubkey: user.publicKey, toPubkey, lamports: n + 1 })], [user]))
      if (n % 4 === 0) acts.pass(1)
    }
    const last = mint()
    acts.pass(60)
    const gaps: boolean[] = []
    for (let n = 0; n < 20 && (await told(last.asset)).length === 0; n++) {
      await reconcileRecords(services, { calls: 3, pageSize: 20 })
      const { account } = await states()
      gaps.push(account.some(({ before_signature }) => before_signature !== null))
      expect(await told(last.asset)).toEqual([])
      acts.pass(5)
      if (gaps.includes(true) && !gaps.at(-1)) break
    }
    expect(gaps).toContain(true)
    expect(gaps.at(-1)).toBe(false)
    await reconcileRecords(services)
    await acts.settle(1)
    expect([await told(first.asset), await told(last.asset)]).toEqual([['nft.created'], ['nft.created']])
    const order = (await acts.events()).filter(({ type }) => type === 'nft.created')
    expect(order.map(({ data }) => data.object.asset)).toEqual([first.asset, last.asset])
  })

  it.each(inSoak ? [12, 60, 300] : [12, 300])(
    'makes no more than %i calls a minute, if so many are configured',
    { tags: 'sampled' },
    async (callsPerMinute) => {
      const { acts, mint } = await withCollection()
      const { count, services } = counted(acts.services)
      const { config, chain } = services
      const remote = {
        ...services,
        chain: { ...chain, cluster: { ...chain.cluster, kind: 'custom' as const } },
        config: { ...config, values: { ...config.values, 'reconciliation.calls-per-minute': callsPerMinute } },
      }
      for (let n = 0; n < 5; n++) mint()
      acts.pass(60 - ((services.clock.now() / 1_000) % 60))
      const before = count.calls
      for (let seconds = 0; seconds < 300; seconds += 5) {
        await reconcileRecords(remote)
        acts.pass(5)
      }
      expect(count.calls - before).toBeGreaterThan(0)
      expect(count.calls - before).toBeLessThanOrEqual(5 * callsPerMinute)
    },
  )

  it('by several daemons at once, and a later submission of the same bytes, reports it once', async () => {
    const { acts, services, mint, told, request } = await withCollection()
    const { asset, bytes } = mint()
    acts.pass(20)
    await Promise.all([reconcileRecords(services), reconcileRecords(services), reconcileRecords(services)])
    expect(await told(asset)).toEqual(['nft.created'])
    const body = { transaction: Buffer.from(bytes).toString('base64') }
    const sent = await request('POST', '/v2/transactions', { body })
    expect(sent.status, sent.text).toBe(200)
    await acts.settle()
    expect(await told(asset)).toEqual(['nft.created'])
  })

  it('ignores what strangers do with their own records beside a followed account', async () => {
    const { acts, funded, collection, sdk, mint, request, told } = await withCollection()
    const stranger = funded()
    const theirs = Keypair.generate()
    const made = createCollection(sdk.context, {
      collection: sdk.signer(addressOf(theirs)),
      payer: sdk.signer(addressOf(stranger)),
      updateAuthority: sdk.key(addressOf(stranger)),
      name: 'X',
      uri: 'https://example.com/x.json',
    })
    acts.past(acts.sign(sdk.instructions(made), [stranger, theirs]))
    const asset = Keypair.generate()
    const instructions = sdk.instructions(
      create(sdk.context, {
        asset: sdk.signer(addressOf(asset)),
        collection: { publicKey: sdk.key(addressOf(theirs)) },
        payer: sdk.signer(addressOf(stranger)),
        authority: sdk.signer(addressOf(stranger)),
        name: 'A',
        uri: 'https://example.com/a.json',
      }),
    )
    const naming = SystemProgram.transfer({
      fromPubkey: stranger.publicKey,
      toPubkey: new PublicKey(collection),
      lamports: 1,
    })
    acts.past(acts.sign([...instructions, naming], [stranger, asset]))
    const own = mint()
    await acts.settle()
    expect([await told(addressOf(asset)), await told(own.asset)]).toEqual([[], ['nft.created']])
    expect((await request('GET', '/v2/nfts')).json.data).toHaveLength(1)
  })

  it.skipIf(!inSoak)(
    'reads changes of a record even if strangers flood a token account of the platform wallet',
    { tags: 'sampled' },
    async () => {
      const { acts, services, wallet, user, mint, told } = await withCollection()
      const token = Keypair.generate()
      const account = spl.getAssociatedTokenAddressSync(token.publicKey, wallet.publicKey)
      const opened = [
        SystemProgram.createAccount({
          fromPubkey: user.publicKey,
          newAccountPubkey: token.publicKey,
          space: spl.MINT_SIZE,
          lamports: Number(rentOf(spl.MINT_SIZE)),
          programId: spl.TOKEN_PROGRAM_ID,
        }),
        spl.createInitializeMint2Instruction(token.publicKey, 0, user.publicKey, null),
        spl.createAssociatedTokenAccountInstruction(user.publicKey, account, wallet.publicKey, token.publicKey),
      ]
      acts.past(acts.sign(opened, [user, token]))
      await acts.settle(6)
      for (let n = 1; n <= 120; n++) {
        acts.past(acts.sign([spl.createMintToInstruction(token.publicKey, account, user.publicKey, n)], [user]))
      }
      const genesis = await services.chain.genesisHash()
      const waiting = async () => {
        const query = { genesis, lane: 'holding', now: Number.MAX_SAFE_INTEGER, limit: 200 } as const
        return (await waitingTransactions(services.store.db, query)).length
      }
      const round = async () => {
        acts.pass(20)
        await reconcileRecords(services, { calls: 16 })
      }
      for (let n = 0; n < 20 && (await waiting()) === 0; n++) await round()
      const { asset } = mint()
      for (let n = 0; n < 20 && (await told(asset)).length === 0; n++) await round()
      expect(await told(asset)).toEqual(['nft.created'])
      expect(await waiting()).toBeGreaterThan(50)
      await acts.settle()
      const row = await services.store.db.selectFrom('chain_transactions').select('seq').where('state', '=', 'waiting')
      expect(await row.execute()).toEqual([])
    },
  )

  it('retracts nothing if a fork drops a reported transaction, and reports nothing twice if it lands again', async () => {
    const { acts, services, mint, told } = await withCollection()
    const { asset } = mint()
    acts.pass(6)
    acts.hold.isOn = true
    await reconcileRecords(acts.services)
    acts.hold.isOn = false
    expect(await told(asset)).toEqual(['nft.created'])
    const [event] = (await acts.events()).filter(({ type }) => type === 'nft.created')
    const signature = event!.data.object.signature as string
    const stateNow = async () => (await chainTransactionOf(services.store.db, signature))?.state
    expect(await stateNow()).toBe('read')
    acts.pass(120)
    async function call<T>(method: string, params: readonly unknown[]): Promise<T> {
      if (method === 'getSignaturesForAddress') return [] as T
      const answer = await services.chain.call<{ value: unknown[] }>(method, params)
      return (method === 'getSignatureStatuses' ? { ...answer, value: answer.value.map(() => null) } : answer) as T
    }
    const witnesses = async <T>(read: (node: { call: typeof call }) => Promise<T>) => [await read({ call })]
    const forked = { ...services, chain: { ...services.chain, call, witnesses } }
    await reconcileRecords(forked)
    expect(await stateNow()).toBe('dropped')
    await acts.settle()
    expect(await stateNow()).toBe('finalized')
    expect(await told(asset)).toEqual(['nft.created'])
  })

  it.skipIf(!inSoak)(
    'makes few calls if nothing happens, and never more than its share of a minute',
    { tags: 'sampled' },
    async ({ annotate }) => {
      const { acts, services, collection } = await withCollection()
      const genesis = await services.chain.genesisHash()
      const address = () => base58.encode(randomBytes(32))
      await services.store.write((tx) =>
        followAccounts(
          tx,
          [
            ...Array.from(
              { length: 270 },
              () => ({ address: address(), kind: 'distributor', watch: 'state' }) as const,
            ),
            ...Array.from(
              { length: 30 },
              () => ({ address: address(), kind: 'collection', watch: 'history' }) as const,
            ),
          ],
          { genesis, from: 0, now: services.clock.now() },
        ),
      )
      const calls = 25
      const { count, services: watched } = counted(services)
      const minute = async () => {
        const before = count.calls
        for (let n = 0; n < 12; n++) {
          acts.pass(5)
          const atStart = count.calls
          await reconcileRecords(watched, { calls })
          expect(count.calls - atStart).toBeLessThanOrEqual(calls)
        }
        return count.calls - before
      }
      // Every account is listed once, and then found quiet some times.
      for (let n = 0; n < 4; n++) {
        acts.pass(60)
        await reconcileRecords(services, { calls: 5_000 })
      }
      await minute()
      const idle = await minute()
      await annotate(`300 quiet accounts: ${idle} calls in a minute`, 'calls')
      expect(idle).toBeLessThanOrEqual(100)
      expect(collection).not.toBe('')
    },
  )
})

describe('the time between two looks', () => {
  it('grows while an account is quiet, and with the number of accounts, to stay within the call limit', () => {
    const few = { counts: { state: 10, history: 10 }, callsPerMinute: 300 }
    expect([0, 1, 2, 3, 30].map((quiet) => lookIntervalOf('history', quiet, few))).toEqual([
      5_000, 10_000, 20_000, 30_000, 30_000,
    ])
    const many = { counts: { state: 100_000, history: 5_000 }, callsPerMinute: 300 }
    const perMinute = (watch: 'state' | 'history', calls: number) => (calls * 60_000) / lookIntervalOf(watch, 30, many)
    expect(perMinute('state', 1_000)).toBeCloseTo(30)
    expect(perMinute('history', 5_000)).toBeCloseTo(120)
  })
})
