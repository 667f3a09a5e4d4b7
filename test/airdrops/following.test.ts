/** What becomes of an airdrop on chain is reported once, whoever does it and whoever notices: the watcher, or the worker. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMetrics } from '../../daemon/metrics.ts'
import { startWorkers } from '../../daemon/workers/frame.ts'
import { airdropFullyClaimedWorker } from '../../daemon/workers/workers.ts'
import { buildAirdropClaim, buildClawback } from '../../src/chain/programs/merkle-distributor/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, hashFromHex, proofAt, toHex } from '../../src/merkle/tree.ts'
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import { advanceAirdrop } from '../../src/operations/airdrops/transitions.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { findAirdrop } from '../../src/store/airdrops/airdrops.ts'
import { startPostgres } from '../store/postgres-server.ts'
import {
  type Airdrops,
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { cataloguedTypes } from '../support/event-catalog.ts'
import { aroundAccounts } from '../support/node-accounts.ts'
import { inSoak } from '../support/runs.ts'
import { sharedService, startService, temporaryFolder } from '../support/service.ts'

const postgres = lacksDistributor ? { missing: 'without the program nothing runs on it' } : await startPostgres()

type Event = { type: string; external_uid?: string; data: { object: Record<string, unknown> } }

const shared = sharedService()

async function opened(count = 3, all?: Airdrops) {
  all ??= await airdropsOn(await shared())
  const payer = all.wallet()
  const wallets = Array.from({ length: count }, () => all.wallet())
  const mint = all.mintFor(payer, 1_000_000n)
  const tree = await all.storeTree(mint, entriesFor(wallets))
  const id = tree.id as string
  const { ok, submit, land } = all
  const path = `/v2/airdrops/${id}`
  const built = (more: object = {}) => ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root, more))
  const claim = (key: Keypair) => ok('POST', `${path}/claims`, claimBody(key))
  const clawback = async (of = mint) => {
    const { transaction } = await buildClawback({
      payer: addressOf(payer),
      recentBlockhash: all.chain.latestBlockhash().blockhash,
      distributor: (await all.vaultOf(of)).distributor,
      mint: of,
      receiver: spl.getAssociatedTokenAddressSync(new PublicKey(of), payer.publicKey).toBase58(),
      opensReceiverFor: null,
    })
    return Buffer.from(transaction).toString('base64')
  }
  return {
    ...all,
    payer,
    wallets,
    mint,
    tree,
    id,
    path,
    built,
    claim,
    clawback,
    make: async (more: object = {}) => submit(await built(more), payer),
    /** As another tool does it: nobody reports it. */
    quietly: {
      make: async (more: object = {}) => land((await built(more)).transaction, payer),
      claim: async (key: Keypair) => land((await claim(key)).transaction, key),
      drain: async () => land(await clawback(), payer),
    },
    statusOf: async () => (await ok('GET', `/v2/airdrops?mint=${mint}`))[0].status as string,
    events: async (): Promise<Event[]> =>
      ok('GET', `/v2/events?order=asc&limit=100&resource_type=airdrop&resource_id=${id}`),
  }
}

describe.skipIf(lacksDistributor)('an airdrop (needs the Jito merkle distributor)', () => {
  it('that is claimed completely is reported by the worker, once', async () => {
    const { make, wallets, claim, submit, settle, events, statusOf, ok, path, pass, services } = await opened()
    await make()
    for (const key of wallets) await submit(await claim(key), key)
    await settle()
    expect(await statusOf()).toBe('claiming')
    expect((await ok('GET', path)).status).toBe('fully_claimed')
    for (let n = 0; n < 3; n++) {
      pass(20)
      await followAirdrops(services)
    }
    expect(await statusOf()).toBe('fully_claimed')
    const told = await events()
    expect(told.map(({ type }) => type)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      'airdrop.claimed',
      'airdrop.claimed',
      'airdrop.claimed',
      'airdrop.fully_claimed',
    ])
    expect(told.at(-1)!.data.object).toMatchObject({ status: 'fully_claimed', leaf_count: 3, slot: expect.any(Number) })
    expect(await cataloguedTypes({ services })).toEqual(
      expect.arrayContaining(['airdrop.claim_started', 'airdrop.claimed', 'airdrop.fully_claimed']),
    )
  })

  it('is reported as fully claimed only after its last claim, tracked or not', async () => {
    for (const isTracked of [true, false]) {
      const { make, wallets, claim, submit, settle, eventsOf, id, pass, services } = await opened(2)
      await make()
      await settle()
      const [first, last] = wallets as [Keypair, Keypair]
      await submit(await claim(first), first)
      await settle()
      const { transaction, tracked_resource } = await claim(last)
      await submit({ transaction, ...(isTracked ? { tracked_resource } : {}) }, last)
      for (let n = 0; n < 2; n++) {
        pass(10)
        await followAirdrops(services)
      }
      expect((await eventsOf(id)).slice(3)).toEqual(['airdrop.claimed'])
      await settle({ worker: true })
      expect((await eventsOf(id)).slice(3)).toEqual(['airdrop.claimed', 'airdrop.claimed', 'airdrop.fully_claimed'])
    }
  })

  it('is reported as fully claimed even if a transaction about it never lands', async () => {
    const { make, wallets, claim, submit, settle, eventsOf, id, pass, services, ok, sign, chain } = await opened(1)
    await make()
    const [only] = wallets as [Keypair]
    const { transaction, tracked_resource } = await claim(only)
    await submit({ transaction, tracked_resource }, only)
    await settle()
    const message = new TransactionMessage({
      payerKey: only.publicKey,
      recentBlockhash: chain.latestBlockhash().blockhash,
      instructions: [],
    }).compileToV0Message()
    const other = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    await ok('POST', '/v2/transactions', { transaction: sign(other, [only]), tracked_resource, skip_preflight: true })
    pass(60)
    await followAirdrops(services)
    expect((await eventsOf(id)).at(-1)).toBe('airdrop.claimed')
    pass(40)
    await followAirdrops(services)
    expect((await eventsOf(id)).at(-1)).toBe('airdrop.fully_claimed')
  })

  it('that another tool makes, pays out and drains is followed, and its states are reported', async () => {
    const { quietly, wallets, settle, eventsOf, id, statusOf, pass, services } = await opened()
    await quietly.make()
    await settle({ worker: true })
    expect(await statusOf()).toBe('initialized')
    await quietly.claim(wallets[0]!)
    pass(20)
    await followAirdrops(services)
    expect(await statusOf()).toBe('claiming')
    pass(31 * DAY_S)
    await quietly.drain()
    await followAirdrops(services)
    pass(DAY_S)
    await followAirdrops(services)
    expect(await statusOf()).toBe('vault_drained')
    expect(await eventsOf(id)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      'airdrop.vault_drained',
    ])
  })

  it('whose whole life happened elsewhere is reported at once, in order', async () => {
    const { quietly, wallets, eventsOf, id, pass, services, events } = await opened(2)
    await quietly.make()
    for (const key of wallets) await quietly.claim(key)
    pass(31 * DAY_S)
    await quietly.drain()
    await followAirdrops(services)
    expect(await eventsOf(id)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      'airdrop.fully_claimed',
      'airdrop.vault_drained',
    ])
    const seen = (await events()).slice(1).map(({ data }) => data.object)
    expect(seen.map(({ status, slot, signature }) => [status, slot, signature])).toEqual(
      seen.map(() => ['vault_drained', expect.any(Number), undefined]),
    )
    const stored = services.store.db.selectFrom('merkle_trees').select('next_check_at').where('id', '=', id)
    const row = await stored.executeTakeFirstOrThrow()
    expect(row.next_check_at).toBeNull()
    expect(await cataloguedTypes({ services })).toEqual(
      expect.arrayContaining(['airdrop.tree_built', 'airdrop.initialized', 'airdrop.vault_drained']),
    )
  })

  it('is left to the watcher while a transaction of it is pending: its event has the signature', async () => {
    const { built, submit, payer, services, pass, settle, events } = await opened()
    const signature = await submit(await built(), payer)
    pass(5)
    await followAirdrops(services)
    expect((await events()).map(({ type }) => type)).toEqual(['airdrop.tree_built'])
    await settle({ worker: true })
    const [, initialized] = await events()
    expect(initialized!.data.object).toMatchObject({ signature, slot: expect.any(Number), status: 'initialized' })
  })

  it('is left to the watcher longer if its vault was withdrawn, even if somebody has claimed', async () => {
    const { make, wallets, claim, submit, settle, clawback, payer, services, pass, events } = await opened()
    await make()
    await submit(await claim(wallets[0]!), wallets[0]!)
    await settle()
    pass(31 * DAY_S)
    const signature = await submit({ transaction: await clawback() }, payer)
    pass(120)
    await followAirdrops(services)
    expect((await events()).at(-1)!.type).toBe('airdrop.claimed')
    await settle({ worker: true })
    const last = (await events()).at(-1)!
    expect([last.type, last.data.object.signature]).toEqual(['airdrop.vault_drained', signature])
  })

  it('that the worker sees first is not reported again by the watcher; other hints are emitted as hints', async () => {
    const { built, sign, payer, ok, services, pass, settle, eventsOf, events, statusOf, id, chain } = await opened()
    const { transaction } = await built()
    const raw = sign(transaction, [payer])
    expect(chain.send(Buffer.from(raw, 'base64')).err).toBeNull()
    pass(20)
    await followAirdrops(services)
    expect(await eventsOf(id)).toEqual(['airdrop.tree_built', 'airdrop.initialized'])
    const related_events = ['airdrop.initialized', 'airdrop.fully_claimed', 'airdrop.vault_drained']
    const tracked_resource = { resource_type: 'airdrop', resource_id: id, related_events }
    await ok('POST', '/v2/transactions', { transaction: raw, tracked_resource })
    await settle({ worker: true })
    await settle({ worker: true })
    expect((await events()).map(({ type, data: { object } }) => [type, object.source])).toEqual([
      ['airdrop.tree_built', undefined],
      ['airdrop.initialized', 'chain'],
      ['airdrop.fully_claimed', 'hint'],
      ['airdrop.vault_drained', 'hint'],
    ])
    expect(await statusOf()).toBe('initialized')
  })

  it('reported only by a hint changes no record, and each event is emitted once, as a hint', async () => {
    const { submit, settle, events, make, id, statusOf, wallets, chain } = await opened()
    const [sender] = wallets
    const message = new TransactionMessage({
      payerKey: sender!.publicKey,
      recentBlockhash: chain.latestBlockhash().blockhash,
      instructions: [],
    }).compileToV0Message()
    const transaction = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    const related_events = ['airdrop.initialized', 'airdrop.claimed', 'airdrop.vault_drained']
    await submit(
      { transaction, tracked_resource: { resource_type: 'airdrop', resource_id: id, related_events } },
      sender!,
    )
    await settle({ worker: true })
    const told = async () => (await events()).map(({ type, data: { object } }) => `${type} ${object.source}`)
    const hinted = ['airdrop.initialized hint', 'airdrop.claimed hint', 'airdrop.vault_drained hint']
    expect(await told()).toEqual(['airdrop.tree_built undefined', ...hinted])
    expect(await statusOf()).toBe('tree_built')
    // It counts for nothing when the chain shows the state.
    await make()
    await settle({ worker: true })
    expect(await told()).toEqual(['airdrop.tree_built undefined', ...hinted, 'airdrop.initialized chain'])
    expect(await statusOf()).toBe('initialized')
  })

  it('with several claims in one transaction reports each', async () => {
    const { make, wallets, ok, chain, submit, settle, events, mint, id, vaultOf } = await opened()
    await make()
    const { distributor } = await vaultOf(mint)
    const [first, second] = wallets as [Keypair, Keypair]
    const instructions = []
    for (const key of [first, second]) {
      const leaf = await ok('GET', `/v2/merkle-trees/${id}/proofs/${addressOf(key)}`)
      const { transaction } = await buildAirdropClaim({
        payer: addressOf(key),
        recentBlockhash: chain.latestBlockhash().blockhash,
        distributor,
        mint,
        leaf: { amount: BigInt(leaf.amount), locked: 0n, proof: leaf.proof.map((hash: string) => hashFromHex(hash)!) },
        takesVested: false,
        opensAccount: true,
      })
      instructions.push(
        ...TransactionMessage.decompile(VersionedTransaction.deserialize(transaction).message).instructions,
      )
    }
    const message = new TransactionMessage({
      payerKey: first.publicKey,
      recentBlockhash: chain.latestBlockhash().blockhash,
      instructions,
    }).compileToV0Message()
    const transaction = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    const related_events = ['airdrop.claimed']
    await submit(
      { transaction, tracked_resource: { resource_type: 'airdrop', resource_id: id, related_events } },
      first,
      second,
    )
    await settle()
    const claims = (await events()).filter(({ type }) => type === 'airdrop.claimed')
    expect(claims.map(({ data: { object } }) => [object.claimer, object.amount, object.source])).toEqual([
      [addressOf(first), '1000', 'chain'],
      [addressOf(second), '2000', 'chain'],
    ])
  })

  it('echoes the external_uid of each submission, not that of the tree', async () => {
    const all = await airdropsOn(await shared())
    const [payer, claimer] = [all.wallet(), all.wallet()]
    const mint = all.mintFor(payer, 1_000n)
    const tree = await all.storeTree(mint, entriesFor([claimer]), 0, { externalUid: 'tree:1' })
    const send = async (
      built: { transaction: string; tracked_resource: object },
      key: Keypair,
      externalUid: string,
    ) => {
      const { tracked_resource } = built
      const transaction = all.sign(built.transaction, [key])
      await all.ok('POST', '/v2/transactions', { transaction, tracked_resource, externalUid })
      await all.settle()
    }
    await send(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer, 'init:1')
    await send(await all.ok('POST', `/v2/airdrops/${tree.id}/claims`, claimBody(claimer)), claimer, 'claim:1')
    await all.settle({ worker: true })
    const events = await all.ok('GET', `/v2/events?order=asc&resource_type=airdrop&resource_id=${tree.id}`)
    expect(events.map(({ type, external_uid }: Event) => [type, external_uid])).toEqual([
      ['airdrop.tree_built', 'tree:1'],
      ['airdrop.initialized', 'init:1'],
      ['airdrop.claim_started', 'claim:1'],
      ['airdrop.claimed', 'claim:1'],
      ['airdrop.fully_claimed', 'tree:1'],
    ])
  })

  it('with another root at its address is not reported as this tree’s, nor are its claims', async () => {
    const { mintFor, wallet, storeTree, ok, submit, settle, eventsOf } = await opened()
    const [squatter, claimer] = [wallet(), wallet()]
    const mint = mintFor(squatter, 100n)
    // The squatter's own list, for which no tree is stored here.
    const own = await ok('POST', '/v2/merkle-trees', { mint, entries: entriesFor([claimer], () => 7n), persist: false })
    await submit(await ok('POST', '/v2/airdrops', createBody(squatter, mint, own.root, { fund_amount: '7' })), squatter)
    await settle()
    const tree = await storeTree(mint, entriesFor([wallet()]))
    const given = claimBody(claimer, { amount: '7', proof: [] })
    const built = await ok('POST', `/v2/airdrops/${tree.id}/claims`, given)
    await submit({ transaction: built.transaction }, claimer)
    await settle({ worker: true })
    expect(await eventsOf(tree.id)).toEqual(['airdrop.initialized', 'airdrop.tree_built'])
    expect((await ok('GET', `/v2/airdrops/${tree.id}`)).status).toBe('tree_built')
  })

  it('made with another root after its tree was stored changes nothing, and is reported only to its sender', async () => {
    const { mintFor, wallet, storeTree, ok, submit, settle } = await opened()
    const squatter = wallet()
    const mint = mintFor(squatter, 100n)
    const built = await ok('POST', '/v2/airdrops', createBody(squatter, mint, 'ab'.repeat(32)))
    const tree = await storeTree(mint, entriesFor([wallet()]))
    await submit(built, squatter)
    await settle({ worker: true })
    const told: Event[] = await ok('GET', `/v2/events?order=asc&resource_type=airdrop&resource_id=${tree.id}`)
    expect(told.map(({ type, data: { object } }) => [type, object.source])).toEqual([
      ['airdrop.tree_built', undefined],
      ['airdrop.initialized', 'hint'],
    ])
    expect((await ok('GET', `/v2/airdrops?mint=${mint}`))[0].status).toBe('tree_built')
  })

  it('whose tree was replaced since it was read is left alone', async () => {
    const { services, storeTree, mint, id, vaultOf, statusOf } = await opened()
    const genesis = await services.chain.genesisHash()
    const { distributor } = await vaultOf(mint)
    const read = (await findAirdrop(services.store.db, id))!
    await storeTree(mint, entriesFor([Keypair.generate()]), 0, { replace: true })
    const moving = () =>
      services.store.write((tx) =>
        advanceAirdrop(tx, { ...read, genesis: 'another' }, distributor, {}, { genesis, next: 1, slot: 1 }),
      )
    expect((await moving()).drafts).toEqual([])
    expect(await statusOf()).toBe('tree_built')
  })

  it('has the state that was reported, even if the node has seen less', async () => {
    const { make, settle, services, ok, path, statusOf, id } = await opened()
    await make()
    await settle()
    await services.store.write((tx) =>
      tx.updateTable('merkle_trees').set({ status: 'claiming' }).where('id', '=', id).execute(),
    )
    expect((await ok('GET', path)).status).toBe('claiming')
    expect(await statusOf()).toBe('claiming')
  })

  it('whose tree is not stored is reported by its hint, as far as its account proves it', async () => {
    const { mintFor, wallet, ok, submit, settle, payer, pass } = await opened()
    const claimer = wallet()
    const mint = mintFor(payer, 100n)
    const own = await ok('POST', '/v2/merkle-trees', { mint, entries: entriesFor([claimer], () => 7n), persist: false })
    const made = await ok('POST', '/v2/airdrops', createBody(payer, mint, own.root, { fund_amount: '8' }))
    await submit(made, payer)
    await settle()
    const claim = await ok('POST', `/v2/airdrops/${own.id}/claims`, claimBody(claimer, { amount: '7', proof: [] }))
    await submit(claim, claimer)
    await settle({ worker: true })
    expect((await ok('GET', `/v2/airdrops/${own.id}`)).status).toBe('claiming')
    pass(1)
    const events: Event[] = await ok('GET', `/v2/events?order=asc&resource_type=airdrop&resource_id=${own.id}`)
    expect(events.map(({ type, data: { object } }) => [type, object.source, object.claimer, object.amount])).toEqual([
      ['airdrop.initialized', 'chain', undefined, undefined],
      ['airdrop.claim_started', 'chain', undefined, undefined],
      ['airdrop.claimed', 'chain', addressOf(claimer), '7'],
    ])
  })

  it.skipIf(!inSoak)(
    'whose tree is stored later reports each state and each claim once',
    { tags: 'sampled' },
    async () => {
      const { mintFor, wallets, storeTree, ok, submit, settle, payer, pass, services, eventsOf } = await opened()
      const mint = mintFor(payer, 1_000_000n)
      const entries = entriesFor(wallets)
      const tree = buildTree(listFromEntries(entries.map(({ wallet, amount }) => ({ wallet, amount: BigInt(amount) }))))
      const made = await ok('POST', '/v2/airdrops', createBody(payer, mint, toHex(tree.root), { fund_amount: '6000' }))
      await submit(made, payer)
      await settle()
      const id = made.tracked_resource.resource_id
      const claim = async (n: number) => {
        const given = { amount: entries[n]!.amount, proof: proofAt(tree, n).map(toHex) }
        await submit(await ok('POST', `/v2/airdrops/${id}/claims`, claimBody(wallets[n]!, given)), wallets[n]!)
      }
      await claim(0)
      await claim(1)
      await settle()
      const told = ['airdrop.initialized', 'airdrop.claim_started', 'airdrop.claimed', 'airdrop.claimed']
      expect(await eventsOf(id)).toEqual(told)
      await storeTree(mint, entries)
      const rounds = async () => {
        for (let n = 0; n < 2; n++) {
          pass(20)
          await followAirdrops(services)
        }
      }
      await rounds()
      expect(await eventsOf(id)).toEqual([...told, 'airdrop.tree_built'])
      expect((await ok('GET', `/v2/airdrops?mint=${mint}`))[0].status).toBe('claiming')
      await claim(2)
      await settle()
      await rounds()
      expect(await eventsOf(id)).toEqual([...told, 'airdrop.tree_built', 'airdrop.claimed', 'airdrop.fully_claimed'])
    },
  )

  /** Made by another tool, and its tree stored nowhere yet. */
  async function madeElsewhere() {
    const all = await opened()
    const { mintFor, wallets, storeTree, ok, land, submit, payer, pass, services } = all
    const mint = mintFor(payer, 1_000_000n)
    const entries = entriesFor(wallets)
    const tree = buildTree(listFromEntries(entries.map(({ wallet, amount }) => ({ wallet, amount: BigInt(amount) }))))
    const made = await ok('POST', '/v2/airdrops', createBody(payer, mint, toHex(tree.root), { fund_amount: '6000' }))
    land(made.transaction, payer)
    const id: string = made.tracked_resource.resource_id
    return {
      ...all,
      id,
      built: async (n: number) => {
        const given = { amount: entries[n]!.amount, proof: proofAt(tree, n).map(toHex) }
        return ok('POST', `/v2/airdrops/${id}/claims`, claimBody(wallets[n]!, given))
      },
      drain: async () => {
        const tracked_resource = { resource_type: 'airdrop', resource_id: id }
        await submit({ transaction: await all.clawback(mint), tracked_resource }, payer)
      },
      store: () => storeTree(mint, entries),
      rounds: async () => {
        for (let n = 0; n < 2; n++) {
          pass(20)
          await followAirdrops(services)
        }
      },
      status: async () => (await ok('GET', `/v2/airdrops?mint=${mint}`))[0].status as string,
    }
  }

  it('made elsewhere is reported as initialized before its first claim here, once', async () => {
    const { id, built, submit, wallets, settle, eventsOf, store, rounds } = await madeElsewhere()
    await submit(await built(0), wallets[0]!)
    await settle()
    const told = ['airdrop.initialized', 'airdrop.claim_started', 'airdrop.claimed']
    expect(await eventsOf(id)).toEqual(told)
    await store()
    await rounds()
    expect(await eventsOf(id)).toEqual([...told, 'airdrop.tree_built'])
  })

  it.skipIf(!inSoak)('withdrawn before its tree is stored reports no earlier state', { tags: 'sampled' }, async () => {
    const { id, built, land, submit, wallets, settle, drain, pass, eventsOf, store, status, rounds } =
      await madeElsewhere()
    const claim = await built(0)
    land(claim.transaction, wallets[0]!)
    pass(31 * DAY_S)
    await drain()
    await settle()
    const told = ['airdrop.initialized', 'airdrop.vault_drained']
    expect(await eventsOf(id)).toEqual(told)
    // It landed before the withdrawal, and is only now heard of.
    await submit(claim, wallets[0]!)
    await settle()
    expect(await eventsOf(id)).toEqual([...told, 'airdrop.claimed'])
    await store()
    await rounds()
    expect(await eventsOf(id)).toEqual([...told, 'airdrop.claimed', 'airdrop.tree_built'])
    expect(await status()).toBe('vault_drained')
  })

  it.skipIf(!inSoak)(
    'that cannot be followed does not stop others, and is an error of the worker',
    { tags: 'sampled' },
    async () => {
      const all = await airdropsOn(await startService())
      const [first, bad, last] = [await opened(2, all), await opened(2, all), await opened(2, all)]
      for (const { quietly, wallets } of [first, bad, last]) {
        await quietly.make()
        await quietly.claim(wallets[0]!)
      }
      const { services } = all
      const total = (text: string) =>
        services.store.write((tx) =>
          tx.updateTable('merkle_trees').set({ total: text }).where('id', '=', bad.id).execute(),
        )
      await total('none')
      await expect(followAirdrops(services)).rejects.toThrow(/BigInt/)
      await followAirdrops(services)
      const types = () => Promise.all([first, bad, last].map(({ eventsOf, id }) => eventsOf(id)))
      const told = ['airdrop.tree_built', 'airdrop.initialized', 'airdrop.claim_started']
      expect(await types()).toEqual([told, ['airdrop.tree_built'], told])
      await total(bad.tree.total)
      all.pass(60)
      await followAirdrops(services)
      expect(await types()).toEqual([told, told, told])
    },
  )

  it.skipIf(!inSoak)(
    'on a chain that was reset starts anew: its tree can be replaced, and it is reported again',
    { tags: 'sampled' },
    async () => {
      const dataDir = temporaryFolder()
      const first = await opened(1, await airdropsOn(await startService({ dataDir })))
      await first.make()
      await first.settle()
      const refused = await first.refused('POST', '/v2/merkle-trees', {
        mint: first.mint,
        entries: entriesFor([Keypair.generate()]),
        replace: true,
      })
      expect(refused.message).toMatch(/is already on chain \(initialized\)/)
      const { store } = first.services
      // As a reset leaves it: the row was seen on a chain that is no more.
      await store.write((tx) => tx.updateTable('merkle_trees').set({ genesis: 'another', mint: first.mint }).execute())
      const moved = await opened(1, await airdropsOn(await startService()))
      await moved.services.store.write(async (tx) => {
        const row = await store.db.selectFrom('merkle_trees').selectAll().executeTakeFirstOrThrow()
        const { seq: _, ...copy } = row
        await tx.insertInto('merkle_trees').values(copy).execute()
      })
      await followAirdrops(moved.services)
      expect((await moved.ok('GET', `/v2/airdrops/${first.id}`)).status).toBe('tree_built')
      const entries = entriesFor([Keypair.generate()])
      const replaced = await moved.ok('POST', '/v2/merkle-trees', { mint: first.mint, entries, replace: true })
      expect(replaced.id).toBe(first.id)
      expect(await moved.ok('GET', `/v2/airdrops?mint=${first.mint}`)).toMatchObject([{ status: 'tree_built' }])
    },
  )

  it.skipIf(!inSoak)(
    'whose leaves were damaged on disk is repaired with the same list, on chain or not',
    { tags: 'sampled' },
    async () => {
      const { make, settle, services, ok, request, mint, wallets, id, statusOf } = await opened()
      await make()
      await settle()
      await services.store.write((tx) =>
        tx
          .updateTable('merkle_blobs')
          .set({ bytes: Buffer.alloc(3) })
          .where('tree_id', '=', id)
          .execute(),
      )
      const damaged = await request('POST', `/v2/airdrops/${id}/claims`, { body: claimBody(wallets[0]!) })
      expect([damaged.status, damaged.json.error.message]).toEqual([400, expect.stringMatching(/replace: true/)])
      await ok('POST', '/v2/merkle-trees', { mint, entries: entriesFor(wallets), replace: true })
      await ok('POST', `/v2/airdrops/${id}/claims`, claimBody(wallets[0]!))
      expect(await statusOf()).toBe('initialized')
    },
  )

  it('stored by an earlier version is found by its claims after it was read once', async () => {
    const { make, settle, services, claim, submit, wallets, statusOf, id } = await opened()
    await services.store.write((tx) =>
      tx.updateTable('merkle_trees').set({ distributor: null, next_check_at: 0 }).where('id', '=', id).execute(),
    )
    await followAirdrops(services)
    const stored = services.store.db.selectFrom('merkle_trees').select('distributor').where('id', '=', id)
    const row = await stored.executeTakeFirstOrThrow()
    expect(row.distributor).not.toBeNull()
    await make()
    await submit({ transaction: (await claim(wallets[0]!)).transaction }, wallets[0]!)
    await settle()
    expect(await statusOf()).toBe('claiming')
  })

  it('is read from the store if the node fails; without a stored state that is an error', async () => {
    const { ok, path, services, request } = await opened()
    const { call } = services.chain
    services.chain.call = async () => {
      throw new Error('the node is gone')
    }
    onTestFinished(() => {
      services.chain.call = call
    })
    expect(await ok('GET', path)).toMatchObject({ status: 'tree_built', distributor: null, vault_balance: null })
    const other = Buffer.concat([Buffer.alloc(32, 3), Buffer.alloc(2)]).toString('base64url')
    expect((await request('GET', `/v2/airdrops/${other}`)).status).toBe(500)
  })

  it('that does not exist is not found', async () => {
    const { refused } = await opened()
    const other = Buffer.concat([Buffer.alloc(32, 3), Buffer.alloc(2)]).toString('base64url')
    const none = await refused('GET', `/v2/airdrops/${other}`, undefined as never)
    expect([none.status, none.message]).toEqual([404, `There is no airdrop ${other}`])
  })

  it.skipIf(!inSoak)(
    'takes few calls, however many are stored, and rarely reads trees that wait',
    { tags: 'sampled' },
    async () => {
      const all = await opened(3, await airdropsOn(await startService()))
      const { services, storeTree, mint, clock, pass } = all
      for (let n = 1; n <= 120; n++) await storeTree(mint, entriesFor([Keypair.generate()]), n)
      let calls = 0
      aroundAccounts(services.chain, (read, addresses) => {
        calls++
        return read(addresses)
      })
      await followAirdrops(services)
      expect(calls).toBe(2)
      await followAirdrops(services)
      expect(calls).toBe(2)
      pass(16)
      await followAirdrops(services)
      expect(calls).toBe(4)
      clock.advance(2 * DAY_S * 1000)
      await followAirdrops(services)
      clock.advance(500_000)
      await followAirdrops(services)
      expect(calls).toBe(6)
    },
  )

  it.skipIf('missing' in postgres)('followed by two daemons on one database is reported once', async () => {
    const settings = {
      'database-url': 'missing' in postgres ? '' : await postgres.createMigratedDatabase(),
      'encryption-key': Buffer.alloc(32, 7).toString('base64'),
    }
    const one = await startService({ settings })
    const two = await startService({ settings })
    // Both work on the chain of the first.
    const second = { ...two.services, chain: one.services.chain, clock: one.clock }
    const all = await airdropsOn(one)
    const airdrops = []
    for (let n = 0; n < 4; n++) airdrops.push(await opened(2, all))
    const workers = [one.services, second].map((services, n) =>
      startWorkers({ ...services, wake() {} }, [airdropFullyClaimedWorker], {
        owner: `daemon-${n}`,
        metrics: createMetrics(),
        timing: { every: () => () => {}, after: () => () => {}, elapsed: () => 0 },
      }),
    )
    const rounds = () =>
      Promise.all([
        ...[one.services, second].flatMap((services) => [followTransactions(services), followAirdrops(services)]),
        ...workers.map((each) => each.runOnce('airdrop-fully-claimed')),
      ])
    for (const [n, { make, quietly, wallets, claim, submit }] of airdrops.entries()) {
      if (n % 2 === 0) await make()
      else await quietly.make()
      await rounds()
      for (const key of wallets) {
        if (n < 2) await submit(await claim(key), key)
        else await quietly.claim(key)
        all.pass(3)
        await rounds()
      }
    }
    for (let n = 0; n < 4; n++) {
      all.pass(20)
      await rounds()
    }
    for (const [n, { eventsOf, id, statusOf }] of airdrops.entries()) {
      const told = await eventsOf(id)
      const claims = n < 2 ? ['airdrop.claimed', 'airdrop.claimed'] : []
      expect(told).toEqual([
        'airdrop.tree_built',
        'airdrop.initialized',
        'airdrop.claim_started',
        ...claims,
        'airdrop.fully_claimed',
      ])
      expect(await statusOf()).toBe('fully_claimed')
    }
    for (const each of workers) {
      await each.stop()
      const state = each.status().find(({ name }) => name === 'airdrop-fully-claimed')!
      expect([state.errors_total, state.last_error]).toEqual([0, null])
    }
  })
})
