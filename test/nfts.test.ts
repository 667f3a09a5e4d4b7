/** An asset's life over HTTP: a collection, mint, stake, release and burn, each read back from the chain, with its events. */
import { addCollectionPlugin, burnV1 } from '@metaplex-foundation/mpl-core'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { memoInstruction } from '../src/chain/programs/memos.ts'
import { loadCore } from '../src/chain/programs/metaplex-core/sdk.ts'
import { compileUnsigned } from '../src/chain/sending/unsigned.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { findNft, insertNft, moveNft } from '../src/store/resources/nfts.ts'
import { addressOf, assetsOn, eventsOf, lacksCore, TEXTS } from './support/assets.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import { sharedService, startService } from './support/service.ts'
import { someAddress } from './support/wallets.ts'

const shared = sharedService()
const open = async () => assetsOn(await shared())
/** Where all rows are read. */
const openOwn = async () => assetsOn(await startService())

describe.skipIf(lacksCore)('an asset', () => {
  it('is minted, staked, kept, released and burned, each state read back from the chain', async () => {
    const scene = await openOwn()
    const { request, funded, settle, submit, built, collection, transfer } = scene
    const [user, other] = [funded(), funded()]
    const owner = addressOf(user)
    const into = await collection(user)
    expect((await request('GET', `/v2/collections/${into}`)).json.data).toEqual({
      address: into,
      ...TEXTS,
      update_authority: owner,
      update_delegates: [],
      num_minted: 0,
      current_size: 0,
      frozen: false,
      cosigned: false,
    })
    const minting = await built('POST', '/v2/nfts', {
      payer: owner,
      platform_id: 'acme',
      collection: into,
      ...TEXTS,
    })
    const { asset } = minting
    expect(minting).toEqual({
      mode: 'unsigned',
      transaction: expect.any(String),
      requiredSigners: [owner],
      last_valid_block_height: expect.any(Number),
      guard: expect.objectContaining({ state: 'whole' }),
      generated_keys: expect.any(String),
      asset,
      tracked_resource: { resource_type: 'nft', resource_id: asset, related_events: ['nft.created'] },
    })
    expect((await request('GET', `/v2/nfts/${asset}`)).status).toBe(404)
    const birth = await submit(minting, [user], { externalUid: 'mint:1', metadata: { batch: 'a' } })
    expect((await request('GET', '/v2/nfts')).json.data).toEqual([])
    await settle()
    const nft = async () => (await request('GET', `/v2/nfts/${asset}`)).json.data
    const minted = { asset, collection: into, owner, ...TEXTS, status: 'minted', frozen: false }
    expect(await nft()).toEqual({ ...minted, created_at: expect.any(String) })
    expect((await request('GET', `/v2/nfts?owner=${owner}&collection=${into}`)).json.data).toMatchObject([minted])

    const own = { user: owner, platform_id: 'acme', collection: into }
    const staking = await built('POST', '/v2/stakes', { ...own, asset, platform_fee: 0 })
    expect(staking).toEqual({
      mode: 'unsigned',
      transaction: expect.any(String),
      requiredSigners: [owner],
      last_valid_block_height: expect.any(Number),
      guard: expect.objectContaining({ state: 'whole' }),
      tracked_resource: { resource_type: 'stake', resource_id: asset, related_events: ['stake.acquired'] },
    })
    const stakedBy = await submit(staking, [user], { externalUid: 'stake:1', metadata: { tier: 'gold' } })
    await settle()
    const stake = async () => (await request('GET', `/v2/stakes/${asset}`)).json.data
    const staked = {
      asset,
      collection: into,
      owner,
      status: 'staked',
      platform_id: 'acme',
      metadata: { tier: 'gold' },
    }
    expect(await stake()).toEqual(staked)
    expect(await nft()).toMatchObject({ ...minted, frozen: true })
    expect((await request('GET', `/v2/wallets/${owner}/stakes`)).json.data).toEqual({
      wallet: owner,
      note: expect.stringContaining('decoded client-side'),
      staked_assets: [staked],
    })
    expect((await transfer(asset, into, user, addressOf(other))).err).toEqual({ InstructionError: [0, { Custom: 9 }] })
    const early = await request('DELETE', `/v2/nfts/${asset}`, {
      body: { owner, platform_id: 'acme', collection: into },
    })
    expect([early.status, early.json.error.param]).toEqual([400, 'asset'])
    expect(early.json.error.message).toContain('staked: release it before')

    const releasing = await built('DELETE', `/v2/stakes/${asset}`, own)
    expect(releasing).toMatchObject({
      requiredSigners: [owner],
      tracked_resource: { resource_type: 'stake', resource_id: asset, related_events: ['stake.released'] },
    })
    const releasedBy = await submit(releasing, [user])
    await settle()
    expect(await stake()).toEqual({ ...staked, status: 'unstaked' })
    expect((await request('GET', '/v2/stakes?status=staked')).json.data).toEqual([])

    const burning = await built('DELETE', `/v2/nfts/${asset}`, { owner, platform_id: 'acme', collection: into })
    expect(burning).toMatchObject({ requiredSigners: [owner] })
    const end = await submit(burning, [user])
    await settle()
    const burned = { asset, collection: into, owner: null, ...TEXTS, status: 'burned', frozen: false }
    expect(await nft()).toEqual({ ...burned, created_at: expect.any(String) })
    expect(await stake()).toEqual({ ...staked, owner: null, status: 'burned' })
    expect((await request('GET', `/v2/collections/${into}`)).json.data).toMatchObject({
      num_minted: 1,
      current_size: 0,
    })

    const events = await eventsOf(scene, asset)
    const told = events.map(({ type, external_uid, data: { object } }) => [
      type,
      object.resource_type,
      object.status,
      object.signature,
      external_uid,
    ])
    expect(told).toEqual([
      ['nft.created', 'nft', 'minted', birth, 'mint:1'],
      ['stake.acquired', 'stake', 'staked', stakedBy, 'stake:1'],
      ['nft.staked', 'nft', 'minted', stakedBy, 'stake:1'],
      ['stake.released', 'stake', 'unstaked', releasedBy, undefined],
      ['nft.unstaked', 'nft', 'minted', releasedBy, undefined],
      ['nft.burned', 'nft', 'burned', end, undefined],
    ])
    for (const { data } of events) expect(data.object).toMatchObject({ source: 'chain', slot: expect.any(Number) })
    expect(events[1]!.data.object).toMatchObject(staked)
    expect(events[2]!.data.object).toMatchObject({ ...minted, frozen: true })
    expect(events[5]!.data.object).toMatchObject(burned)
    expect(await cataloguedTypes(scene)).toEqual(expect.arrayContaining(told.map(([type]) => type)))
  })

  it('is minted for another wallet, by an authority that signs, or at an address of the caller', async () => {
    const { request, funded, land, built, collection } = await open()
    const [user, issuer] = [funded(), funded()]
    const into = await collection(issuer)
    const body = { payer: addressOf(user), platform_id: 'a', collection: into, ...TEXTS }
    const theirs = await built('POST', '/v2/nfts', { ...body, owner: addressOf(issuer) })
    expect(theirs.requiredSigners).toEqual([addressOf(user), addressOf(issuer)])
    expect(land(theirs, user, issuer).err).toBeNull()
    expect((await request('GET', `/v2/nfts/${theirs.asset}`)).json.data.owner).toBe(addressOf(issuer))
    const key = Keypair.generate()
    const own = await built('POST', '/v2/nfts', { ...body, asset: addressOf(key) })
    expect([own.asset, own.requiredSigners]).toEqual([
      addressOf(key),
      [addressOf(user), addressOf(key), addressOf(issuer)],
    ])
    expect(land(own, user, issuer, key).err).toBeNull()
    const again = await request('POST', '/v2/nfts', { body: { ...body, asset: addressOf(key) } })
    expect([again.status, again.json.error.param]).toEqual([400, 'asset'])
    expect(again.json.error.message).toContain('already')
    const unfunded = someAddress()
    const theirCollection = await collection(user, unfunded)
    for (const [taken, at] of [
      [addressOf(user), into],
      [into, into],
      [addressOf(issuer), into],
      [addressOf(funded()), into],
      [unfunded, theirCollection],
    ] as const) {
      const { status, json } = await request('POST', '/v2/nfts', { body: { ...body, collection: at, asset: taken } })
      expect([status, json.error.param, json.error.message]).toEqual([
        400,
        'asset',
        expect.stringContaining('a new key'),
      ])
    }
    // To the program its own address says that none is given.
    const { id } = PROGRAMS.core
    const nobody = await request('POST', '/v2/nfts', { body: { ...body, owner: id } })
    expect([nobody.status, nobody.json.error.param]).toEqual([400, 'owner'])
    const ruled = { payer: addressOf(user), ...TEXTS, update_authority: id }
    const nobodys = await request('POST', '/v2/collections', { body: ruled })
    expect([nobodys.status, nobodys.json.error.param]).toEqual([400, 'update_authority'])
  })

  it('is minted by a delegate of the collection, and by no other wallet', async () => {
    const { request, funded, land, run, built, collection } = await open()
    const [issuer, delegate] = [funded(), funded()]
    const into = await collection(issuer)
    await run(
      ({ context, signer, key }) =>
        addCollectionPlugin(context, {
          collection: key(into),
          payer: signer(addressOf(issuer)),
          authority: signer(addressOf(issuer)),
          plugin: {
            type: 'UpdateDelegate',
            authority: { type: 'UpdateAuthority' },
            additionalDelegates: [key(addressOf(delegate))],
          },
        }),
      issuer,
    )
    const read = (await request('GET', `/v2/collections/${into}`)).json.data
    expect(read.update_delegates).toEqual([addressOf(delegate)])
    const body = { payer: addressOf(delegate), platform_id: 'a', collection: into, ...TEXTS }
    const minting = await built('POST', '/v2/nfts', body)
    expect(minting.requiredSigners).toEqual([addressOf(delegate)])
    expect(land(minting, delegate).err).toBeNull()
    const refused = await request('POST', '/v2/nfts', { body: { ...body, authority: someAddress() } })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'authority'])
    expect(refused.json.error.message).toContain(addressOf(issuer))
    expect(refused.json.error.message).toContain(addressOf(delegate))
  })

  it('that does not exist is 404, and a wrong owner or collection is 400, before anything is built', async () => {
    const { request, funded, collection, minted } = await open()
    const [user, other] = [funded(), funded()]
    const [into, elsewhere] = [await collection(user), await collection(user)]
    const asset = await minted(user, into)
    const owner = addressOf(user)
    const ask = async (method: string, path: string, body: object) => {
      const { status, json } = await request(method, path, { body })
      return [status, json.error?.param, json.error?.message]
    }
    const said = (text: string) => expect.stringContaining(text)
    const absent = someAddress()
    const body = { platform_id: 'a', collection: into }
    const burn = (asset: string, more = {}) => ask('DELETE', `/v2/nfts/${asset}`, { owner, ...body, ...more })
    expect(await ask('POST', '/v2/nfts', { payer: owner, ...body, ...TEXTS, collection: absent })).toEqual([
      404,
      'collection',
      said(`no collection at ${absent}`),
    ])
    expect(await ask('POST', '/v2/nfts', { payer: owner, ...body, ...TEXTS, collection: asset })).toEqual([
      404,
      'collection',
      said('no collection'),
    ])
    expect(await burn(absent)).toEqual([404, 'asset', said(`no asset at ${absent}`)])
    expect(await burn(into)).toEqual([404, 'asset', said('no asset')])
    expect(await burn(asset, { collection: elsewhere })).toEqual([400, 'collection', said(`in the collection ${into}`)])
    expect(await burn(asset, { owner: addressOf(other) })).toEqual([400, 'owner', said(`owned by ${owner}`)])
    const stake = (more = {}) => ask('POST', '/v2/stakes', { user: owner, asset, ...body, ...more })
    const release = (more = {}) => ask('DELETE', `/v2/stakes/${asset}`, { user: owner, ...body, ...more })
    for (const act of [stake, release]) {
      expect(await act({ user: addressOf(other) })).toEqual([400, 'user', said(`owned by ${owner}`)])
      expect(await act({ collection: elsewhere })).toEqual([400, 'collection', said(into)])
    }
    expect(await stake({ asset: absent })).toEqual([404, 'asset', said('no asset')])
    expect(await release()).toEqual([400, 'asset', said('is not staked')])
    for (const path of ['nfts', 'stakes']) expect((await request('GET', `/v2/${path}/${absent}`)).status).toBe(404)
    expect((await request('GET', `/v2/collections/${absent}`)).status).toBe(404)
  })

  it('with any texts is minted if they fit, and refused with an explanation if not', async () => {
    const { request, funded, land, built, collection } = await open()
    const user = funded()
    const into = await collection(user)
    const body = { payer: addressOf(user), platform_id: 'a', collection: into }
    const texts = { name: '€'.repeat(64), uri: `https://example.com/${'u'.repeat(480)}` }
    const { asset, ...minting } = await built('POST', '/v2/nfts', { ...body, ...texts })
    expect(land(minting as never, user).err).toBeNull()
    expect((await request('GET', `/v2/nfts/${asset}`)).json.data).toMatchObject(texts)
    const long = await request('POST', '/v2/nfts', {
      body: { ...body, ...texts, uri: `${texts.uri}${'u'.repeat(12)}` },
    })
    expect([long.status, long.json.error.param]).toEqual([400, 'uri'])
    expect(long.json.error.message).toContain('takes 512 bytes as UTF-8, and name 192: together at most 692 fit')
    for (const name of ['', 'x'.repeat(65), 'a\0b', 'two\nlines']) {
      const refused = await request('POST', '/v2/nfts', { body: { ...body, ...texts, name } })
      expect([name, refused.status, refused.json.error.param]).toEqual([name, 400, 'name'])
    }
  })

  it('burned before it was recorded here reads only as burned', async () => {
    const { request, funded, run, collection, minted } = await open()
    const user = funded()
    const into = await collection(user)
    const asset = await minted(user, into)
    const burned = await run(
      ({ context, signer, key }) =>
        burnV1(context, {
          asset: key(asset),
          collection: key(into),
          payer: signer(addressOf(user)),
          authority: signer(addressOf(user)),
        }),
      user,
    )
    expect(burned.err).toBeNull()
    expect((await request('GET', `/v2/nfts/${asset}`)).json.data).toEqual({
      asset,
      collection: null,
      owner: null,
      name: '',
      uri: '',
      status: 'burned',
      frozen: false,
      created_at: null,
    })
    expect((await request('GET', `/v2/stakes/${asset}`)).status).toBe(404)
    const body = { owner: addressOf(user), platform_id: 'a', collection: into }
    const again = await request('DELETE', `/v2/nfts/${asset}`, { body })
    expect([again.status, again.json.error.param]).toEqual([400, 'asset'])
    expect(again.json.error.message).toContain('is burned')
  })

  it('of a collection that its issuer has frozen is neither burned nor staked', async () => {
    const { request, funded, freezable, minted } = await open()
    const user = funded()
    const into = await freezable(user, true)
    const asset = await minted(user, into)
    expect((await request('GET', `/v2/collections/${into}`)).json.data.frozen).toBe(true)
    expect((await request('GET', `/v2/nfts/${asset}`)).json.data.frozen).toBe(true)
    expect((await request('GET', `/v2/stakes/${asset}`)).json.data.status).toBe('unstaked')
    const of = { platform_id: 'a', collection: into }
    const burn = await request('DELETE', `/v2/nfts/${asset}`, { body: { owner: addressOf(user), ...of } })
    const stake = await request('POST', '/v2/stakes', { body: { user: addressOf(user), asset, ...of } })
    for (const { status, json } of [burn, stake]) {
      expect([status, json.error.param]).toEqual([400, 'asset'])
      expect(json.error.message).toContain('frozen by its issuer')
    }
  })

  it('that the program refuses to mint is refused before anybody signs', async () => {
    const { request, funded, run } = await open()
    const [user, made] = [funded(), Keypair.generate()]
    await run(
      ({ core, context, signer, key }) =>
        core.createCollection(context, {
          collection: signer(addressOf(made)),
          payer: signer(addressOf(user)),
          updateAuthority: key(addressOf(user)),
          ...TEXTS,
          // An oracle that says nothing yet lets nothing pass.
          plugins: [
            {
              type: 'Oracle',
              resultsOffset: { type: 'Anchor' },
              baseAddress: key(addressOf(user)),
              lifecycleChecks: { create: [core.CheckResult.CAN_REJECT] },
            },
          ],
        }),
      user,
      made,
    )
    const { status, json } = await request('POST', '/v2/nfts', {
      body: { payer: addressOf(user), platform_id: 'a', collection: addressOf(made), ...TEXTS },
    })
    expect([status, json.error.code]).toEqual([400, 'bad_request'])
    expect(json.error.message).toMatch(/^Metaplex Core refuses it: /)
  })
})

describe.skipIf(lacksCore)('NFT records', () => {
  it('follow the owner on chain, and older confirmations that arrive late undo nothing', async () => {
    const scene = await openOwn()
    const { request, services, funded, settle, submit, built, collection, transfer, chain, clock } = scene
    const [user, other] = [funded(), funded()]
    const into = await collection(user)
    const minting = await built('POST', '/v2/nfts', {
      payer: addressOf(user),
      platform_id: 'a',
      collection: into,
      ...TEXTS,
    })
    const { asset } = minting
    await submit(minting, [user])
    await settle()
    const own = { user: addressOf(user), platform_id: 'first', collection: into }
    // Both land before anybody follows either; the release is followed first.
    const stakedBy = await submit(await built('POST', '/v2/stakes', { ...own, asset }), [user], { externalUid: 's' })
    chain.advance(5)
    const releasedBy = await submit(await built('DELETE', `/v2/stakes/${asset}`, own), [user])
    chain.advance(5)
    expect((await transfer(asset, into, user, addressOf(other))).err).toBeNull()
    chain.advance(20)
    const later = (signature: string, at: number) =>
      services.store.write((tx) =>
        tx.updateTable('transactions').set({ next_check_at: at }).where('signature', '=', signature).execute(),
      )
    await later(stakedBy, clock.now() + 600_000)
    await later(releasedBy, clock.now())
    await followTransactions(services)
    const stake = async () => (await request('GET', `/v2/stakes?collection=${into}`)).json.data
    expect(await stake()).toMatchObject([{ asset, status: 'unstaked', owner: addressOf(user), platform_id: 'first' }])
    expect((await request('GET', `/v2/nfts?owner=${addressOf(user)}`)).json.data).toHaveLength(1)
    expect((await request('GET', `/v2/nfts/${asset}`)).json.data.owner).toBe(addressOf(other))
    expect((await request('GET', `/v2/nfts?owner=${addressOf(other)}`)).json.data).toMatchObject([{ asset }])
    await later(stakedBy, clock.now())
    await followTransactions(services)
    expect(await stake()).toMatchObject([{ asset, status: 'unstaked', owner: addressOf(other) }])
    expect((await request('GET', `/v2/nfts/${asset}`)).json.data).toMatchObject({ frozen: false })
    const told = (await eventsOf(scene, asset)).map(({ type, external_uid }) => [type, external_uid])
    expect(told).toEqual([
      ['nft.created', undefined],
      ['stake.released', undefined],
      ['nft.unstaked', undefined],
      ['stake.acquired', 's'],
      ['nft.staked', 's'],
    ])
    const row = await services.store.db.selectFrom('stakes').selectAll().executeTakeFirstOrThrow()
    expect(row.external_uid).toBe('s')
  })

  it('of a stake that is confirmed after the burn say that it is burned', async () => {
    const scene = await openOwn()
    const { request, services, chain, clock, funded, land, submit, built, collection, minted } = scene
    const user = funded()
    const into = await collection(user)
    const asset = await minted(user, into)
    const own = { user: addressOf(user), platform_id: 'acme', collection: into }
    const stakedBy = await submit(await built('POST', '/v2/stakes', { ...own, asset }), [user], { externalUid: 's' })
    chain.advance(5)
    land(await built('DELETE', `/v2/stakes/${asset}`, own), user)
    chain.advance(5)
    const burning = await built('DELETE', `/v2/nfts/${asset}`, { owner: addressOf(user), ...own, user: undefined })
    const burnedBy = await submit(burning, [user])
    chain.advance(20)
    const later = (signature: string, at: number) =>
      services.store.write((tx) =>
        tx.updateTable('transactions').set({ next_check_at: at }).where('signature', '=', signature).execute(),
      )
    await later(stakedBy, clock.now() + 600_000)
    await later(burnedBy, clock.now())
    await followTransactions(services)
    await later(stakedBy, clock.now())
    await followTransactions(services)
    expect((await eventsOf(scene, asset)).map(({ type }) => type)).toEqual([
      'nft.burned',
      'stake.acquired',
      'nft.staked',
    ])
    const burned = { asset, status: 'burned', owner: null }
    expect((await request('GET', '/v2/stakes')).json.data).toMatchObject([{ ...burned, platform_id: 'acme' }])
    expect((await request('GET', `/v2/wallets/${addressOf(user)}/stakes`)).json.data.staked_assets).toEqual([])
  })

  it('from a read of the chain are not undone by an earlier confirmation', async () => {
    const scene = await openOwn()
    const { request, chain, clock, services, funded, submit, built, collection, minted, transfer } = scene
    const [user, other, third] = [funded(), funded(), funded()]
    const into = await collection(user)
    const asset = await minted(user, into)
    const sdk = await loadCore()
    const given = sdk.core.transferV1(sdk.context, {
      asset: sdk.key(asset),
      collection: sdk.key(into),
      payer: sdk.signer(addressOf(user)),
      authority: sdk.signer(addressOf(user)),
      newOwner: sdk.key(addressOf(other)),
    })
    const recentBlockhash = chain.latestBlockhash().blockhash
    const { transaction } = await compileUnsigned({ payer: addressOf(user), recentBlockhash }, sdk.instructions(given))
    await submit({ transaction: Buffer.from(transaction).toString('base64'), requiredSigners: [] }, [user])
    chain.advance(5)
    expect((await transfer(asset, into, other, addressOf(third))).err).toBeNull()
    chain.advance(5)
    await built('POST', '/v2/stakes', { user: addressOf(third), platform_id: 'p', collection: into, asset })
    clock.advance(20_000)
    await followTransactions(services)
    expect((await request('GET', '/v2/nfts')).json.data).toMatchObject([{ asset, owner: addressOf(third) }])
  })

  it('follow an asset into another collection, by reads and by what is done to it there', async () => {
    const scene = await open()
    const { request, funded, settle, submit, built, collection, run } = scene
    const user = funded()
    const [one, two] = [await collection(user), await collection(user)]
    const own = { user: addressOf(user), platform_id: 'p' }
    const mint = async () => {
      const minting = await built('POST', '/v2/nfts', {
        payer: addressOf(user),
        platform_id: 'a',
        collection: one,
        ...TEXTS,
      })
      await submit(minting, [user])
      await settle()
      return minting.asset as string
    }
    const move = async (asset: string) => {
      const moved = await run(
        ({ core, context, signer, key }) =>
          core.updateV2(context, {
            asset: key(asset),
            collection: key(one),
            newCollection: key(two),
            payer: signer(addressOf(user)),
            authority: signer(addressOf(user)),
            newName: null,
            newUri: null,
            newUpdateAuthority: core.updateAuthority('Collection', [key(two)]),
          }),
        user,
      )
      expect(moved.err).toBeNull()
    }
    const listed = async (what: 'nfts' | 'stakes', at: string) =>
      (await request('GET', `/v2/${what}?collection=${at}`)).json.data.map(({ asset }: { asset: string }) => asset)
    const [read, staked] = [await mint(), await mint()]
    await submit(await built('POST', '/v2/stakes', { ...own, collection: one, asset: read }), [user])
    await settle()
    await submit(await built('DELETE', `/v2/stakes/${read}`, { ...own, collection: one }), [user])
    await settle()
    for (const asset of [read, staked]) await move(asset)
    expect((await request('GET', `/v2/nfts/${read}`)).json.data.collection).toBe(two)
    expect(await listed('nfts', one)).toEqual([staked])
    expect(await listed('nfts', two)).toEqual([read])
    expect(await listed('stakes', two)).toEqual([read])
    await submit(await built('POST', '/v2/stakes', { ...own, collection: two, asset: staked }), [user])
    await settle()
    expect(await listed('nfts', two)).toEqual([staked, read])
    expect(await listed('stakes', two)).toEqual([staked, read])
    const events = await eventsOf(scene, staked)
    expect(events.map(({ data }) => data.object.collection)).toEqual([one, two, two])
  })

  it('move only forward, twice at one position if a transaction does two things, and never after a burn', async () => {
    const { store } = (await startService()).services
    const [asset, collection] = [someAddress(), someAddress()]
    const said = { external_uid: null, metadata_json: null, created_at: 0, changed_slot: 5, changed_order: 2 }
    const move = (slot: number, order: number, change: object) =>
      store.write((tx) => moveNft(tx, asset, { slot, order }, change))
    await store.write((tx) =>
      insertNft(tx, { asset, collection, owner: 'a', status: 'minted', frozen: 0, name: '', uri: '', ...said }),
    )
    expect(await move(5, 1, { owner: 'b' })).toBe(false)
    expect(await move(4, 9, { owner: 'b' })).toBe(false)
    expect(await move(5, 2, { owner: 'c' })).toBe(true)
    expect(await move(5, 3, { owner: null, status: 'burned' })).toBe(true)
    expect(await move(9, 1, { owner: 'd' })).toBe(false)
    expect(await findNft(store.db, asset)).toMatchObject({ owner: null, status: 'burned' })
  })

  it('of a stake show its newest state, also if a read preceded its confirmation', async () => {
    const scene = await openOwn()
    const { request, services, chain, clock, funded, settle, submit, built, collection, minted } = scene
    const user = funded()
    const into = await collection(user)
    const asset = await minted(user, into)
    const own = (platform_id: string) => ({ user: addressOf(user), platform_id, collection: into })
    const stake = async (platform_id: string, more = {}) =>
      submit(await built('POST', '/v2/stakes', { ...own(platform_id), asset }), [user], more)
    const release = async () => submit(await built('DELETE', `/v2/stakes/${asset}`, own('acme')), [user])
    const state = async () => (await request('GET', `/v2/stakes/${asset}`)).json.data
    const later = (signature: string, at: number) =>
      services.store.write((tx) =>
        tx.updateTable('transactions').set({ next_check_at: at }).where('signature', '=', signature).execute(),
      )
    const oldest = await stake('initech', { externalUid: 'zero' })
    chain.advance(5)
    await release()
    chain.advance(5)
    await later(oldest, clock.now() + 600_000)
    await settle()
    const old = await stake('acme', { externalUid: 'one', metadata: { tier: 'old' } })
    await later(old, clock.now() + 600_000)
    chain.advance(5)
    expect(await state()).toMatchObject({ status: 'staked', platform_id: null, metadata: null })
    await later(oldest, clock.now())
    await followTransactions(services)
    expect(await state()).toMatchObject({ status: 'staked', platform_id: null, metadata: null })
    await later(old, clock.now())
    await followTransactions(services)
    expect(await state()).toMatchObject({ status: 'staked', platform_id: 'acme', metadata: { tier: 'old' } })
    await release()
    await settle()
    expect(await state()).toMatchObject({ status: 'unstaked', platform_id: 'acme', metadata: { tier: 'old' } })
    await stake('globex')
    chain.advance(5)
    expect(await state()).toMatchObject({ status: 'staked', platform_id: null, metadata: null })
    await settle()
    expect(await state()).toMatchObject({ status: 'staked', platform_id: 'globex', metadata: null })
    expect(await services.store.db.selectFrom('stakes').select('external_uid').execute()).toEqual([
      { external_uid: null },
    ])
  })

  it('of an asset that was minted elsewhere start when it is staked here', async () => {
    const scene = await openOwn()
    const { request, funded, settle, submit, built, collection, minted } = scene
    const user = funded()
    const into = await collection(user)
    const asset = await minted(user, into)
    expect((await request('GET', '/v2/nfts')).json.data).toEqual([])
    const own = { user: addressOf(user), platform_id: 'a', collection: into }
    await submit(await built('POST', '/v2/stakes', { ...own, asset }), [user])
    await settle()
    expect((await request('GET', '/v2/nfts')).json.data).toMatchObject([{ asset, ...TEXTS, frozen: true }])
    expect((await eventsOf(scene, asset)).map(({ type }) => type)).toEqual(['stake.acquired', 'nft.staked'])
  })

  it('of a mint and a stake in one transaction are both there, reported in the order of the message', async () => {
    const scene = await openOwn()
    const { request, services, chain, funded, settle, collection } = scene
    const [user, one, two] = [funded(), Keypair.generate(), Keypair.generate()]
    const into = await collection(user)
    const { core, context, signer, key, instructions } = await loadCore()
    const own = { collection: key(into), payer: signer(addressOf(user)), authority: signer(addressOf(user)) }
    const mint = (asset: Keypair) =>
      core.create(context, {
        ...own,
        asset: signer(addressOf(asset)),
        collection: { publicKey: key(into) } as never,
        owner: key(addressOf(user)),
        ...TEXTS,
      })
    const plugin = { type: 'FreezeDelegate', frozen: true } as const
    const { transaction } = await compileUnsigned(
      { payer: addressOf(user), recentBlockhash: chain.latestBlockhash().blockhash },
      [
        ...instructions(mint(two), mint(one), core.addPlugin(context, { ...own, asset: key(addressOf(one)), plugin })),
        await memoInstruction(`svc:stake:${addressOf(one)}:bat\0ch`, [addressOf(user)]),
      ],
    )
    const decoded = VersionedTransaction.deserialize(transaction)
    decoded.sign([user, one, two])
    const sent = await request('POST', '/v2/transactions', {
      body: { transaction: Buffer.from(decoded.serialize()).toString('base64') },
    })
    expect(sent.status, sent.text).toBe(200)
    await settle()
    const events = (await services.store.db.selectFrom('events').selectAll().orderBy('sequence').execute())
      .filter(({ resource_type }) => resource_type !== 'transaction')
      .map(({ type, resource_id }) => [type, resource_id])
    expect(events).toEqual([
      ['nft.created', addressOf(two)],
      ['nft.created', addressOf(one)],
      ['stake.acquired', addressOf(one)],
      ['nft.staked', addressOf(one)],
    ])
    const listed = (await request('GET', '/v2/stakes')).json.data
    expect(listed).toMatchObject([{ asset: addressOf(one), status: 'staked', platform_id: null }])
  })
})
