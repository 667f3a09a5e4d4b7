/** Stakes over HTTP: plugins that are there already, fees, and assets that are released with the platform wallet. */
import { addPlugin, updatePlugin } from '@metaplex-foundation/mpl-core'
import type { TransactionBuilder } from '@metaplex-foundation/umi'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { memoInstruction } from '../src/chain/programs/memos.ts'
import { loadCore } from '../src/chain/programs/metaplex-core/sdk.ts'
import { compileUnsigned } from '../src/chain/sending/unsigned.ts'
import { addressOf, assetsOn, eventsOf, lacksCore } from './support/assets.ts'
import { type PlatformService, sharedPlatform, startPlatform } from './support/platform-wallet.ts'
import { inSoak } from './support/runs.ts'
import { startService } from './support/service.ts'

const PLATFORM = { 'stakes.freeze-authority': 'platform' }
const shared = sharedPlatform(null)
const sharedFreezing = sharedPlatform(null, { settings: PLATFORM })
const ownFreezing = () => startPlatform(null, { settings: PLATFORM })

/** An asset of a user who has not staked it. */
async function staking(platform?: PlatformService) {
  const service = platform ?? (await shared())
  const { wallet } = service
  const scene = await assetsOn(service)
  const user = scene.funded()
  const into = await scene.collection(user)
  const asset = await scene.minted(user, into)
  const own = { user: addressOf(user), platform_id: 'acme', collection: into }
  type Sdk = Awaited<ReturnType<typeof loadCore>>
  const adding =
    (frozen: boolean, authority: 'Owner' | string, as = user) =>
    ({ context, signer, key }: Sdk) =>
      addPlugin(context, {
        asset: key(asset),
        collection: key(into),
        payer: signer(addressOf(as)),
        authority: signer(addressOf(as)),
        plugin: {
          type: 'FreezeDelegate',
          frozen,
          authority: authority === 'Owner' ? { type: 'Owner' } : { type: 'Address', address: key(authority) },
        },
      })
  const updating =
    (frozen: boolean, as = user) =>
    ({ context, signer, key }: Sdk) =>
      updatePlugin(context, {
        asset: key(asset),
        collection: key(into),
        payer: signer(addressOf(as)),
        authority: signer(addressOf(as)),
        plugin: { type: 'FreezeDelegate', frozen },
      })
  const plugin = (frozen: boolean, authority: 'Owner' | string, as = user) =>
    scene.run(adding(frozen, authority, as), as)
  /** By another client, but followed here. */
  const followed = async (make: (sdk: Sdk) => TransactionBuilder, as = user) => {
    const sdk = await loadCore()
    const recentBlockhash = scene.chain.latestBlockhash().blockhash
    const { transaction } = await compileUnsigned(
      { payer: addressOf(as), recentBlockhash },
      sdk.instructions(make(sdk)),
    )
    await scene.submit({ transaction: Buffer.from(transaction).toString('base64'), requiredSigners: [] }, [as])
    await scene.settle()
  }
  const told = async () => (await eventsOf(scene, asset)).map(({ type }) => type)
  const state = async () => (await scene.request('GET', `/v2/stakes/${asset}`)).json.data
  const stake = (more = {}) => scene.request('POST', '/v2/stakes', { body: { ...own, asset, ...more } })
  const release = (more = {}) => scene.request('DELETE', `/v2/stakes/${asset}`, { body: { ...own, ...more } })
  return { ...scene, wallet, user, into, asset, own, plugin, adding, updating, followed, told, state, stake, release }
}

describe.skipIf(lacksCore)('a stake', () => {
  it('pays the platform its fee inside the same transaction, and so does the release', async () => {
    const { request, wallet, user, land, stake, release, asset } = await staking()
    const lamports = async (key: Keypair) =>
      BigInt((await request('GET', `/v2/accounts/${addressOf(key)}`)).json.data.lamports)
    const before = await lamports(wallet)
    expect(land((await stake({ platform_fee: 5_000_000 })).json.data, user).err).toBeNull()
    expect(land((await release({ platform_fee: 7 })).json.data, user).err).toBeNull()
    expect(await lamports(wallet)).toBe(before + 5_000_007n)
    expect((await request('GET', `/v2/stakes/${asset}`)).json.data.status).toBe('unstaked')
  })

  it('needs no platform wallet without a fee, and is refused with one', async () => {
    const scene = await assetsOn(await startService())
    const user = scene.funded()
    const into = await scene.collection(user)
    const asset = await scene.minted(user, into)
    const body = { user: addressOf(user), platform_id: 'a', collection: into, asset }
    expect((await scene.request('POST', '/v2/stakes', { body })).status).toBe(200)
    const { status, json } = await scene.request('POST', '/v2/stakes', { body: { ...body, platform_fee: 1 } })
    expect([status, json.error.message]).toEqual([500, expect.stringContaining('No platform wallet is configured')])
  })

  it('of an asset that is staked is refused, and so is a release of one that is not', async () => {
    const { user, land, stake, release, asset } = await staking()
    expect(land((await stake()).json.data, user).err).toBeNull()
    const again = await stake()
    expect([again.status, again.json.error.param]).toEqual([400, 'asset'])
    expect(again.json.error.message).toBe(
      `The asset ${asset} is already staked: it is frozen, and its owner can release it`,
    )
    expect(land((await release()).json.data, user).err).toBeNull()
    const idle = await release()
    expect([idle.status, idle.json.error.message]).toEqual([400, `The asset ${asset} is not staked`])
  })

  it('uses a plugin that its owner has added, and is released like any other', async () => {
    const { user, land, plugin, stake, release, state } = await staking()
    expect((await plugin(false, 'Owner')).err).toBeNull()
    expect(land((await stake()).json.data, user).err).toBeNull()
    expect((await state()).status).toBe('staked')
    expect(land((await release()).json.data, user).err).toBeNull()
    expect((await state()).status).toBe('unstaked')
  })

  it.skipIf(!inSoak)(
    'replaces a plugin that the platform was given, whoever holds it now',
    { tags: 'sampled' },
    async () => {
      for (const platform of [await shared(), await sharedFreezing()]) {
        const { wallet, user, land, submit, settle, plugin, stake, release, state } = await staking(platform)
        expect((await plugin(false, addressOf(wallet))).err).toBeNull()
        await submit((await stake()).json.data, [user])
        await settle()
        expect((await state()).status).toBe('staked')
        expect(land((await release()).json.data, user).err).toBeNull()
      }
    },
  )

  it('by a plugin that names its owner by address is released by the owner alone', async () => {
    const { user, land, plugin, stake, release, state } = await staking()
    expect((await plugin(false, addressOf(user))).err).toBeNull()
    expect(land((await stake()).json.data, user).err).toBeNull()
    expect((await state()).status).toBe('staked')
    const released = (await release()).json.data
    expect(released.requiredSigners).toEqual([addressOf(user)])
    expect(land(released, user).err).toBeNull()
  })

  it('cannot be released while its issuer has frozen the collection, and the refusal says so', async () => {
    const scene = await assetsOn(await startService())
    const { request, funded, freezable, run, minted, land, built } = scene
    const user = funded()
    const into = await freezable(user, false)
    const asset = await minted(user, into)
    const own = { user: addressOf(user), platform_id: 'acme', collection: into }
    expect(land(await built('POST', '/v2/stakes', { ...own, asset }), user).err).toBeNull()
    const frozen = await run(
      ({ core, context, signer, key }) =>
        core.updateCollectionPlugin(context, {
          collection: key(into),
          payer: signer(addressOf(user)),
          authority: signer(addressOf(user)),
          plugin: { type: 'PermanentFreezeDelegate', frozen: true },
        }),
      user,
    )
    expect(frozen.err).toBeNull()
    const { status, json } = await request('DELETE', `/v2/stakes/${asset}`, { body: own })
    expect([status, json.error.param]).toEqual([400, 'asset'])
    expect(json.error.message).toContain('also frozen by its issuer')
  })

  it('of an asset whose plugin another wallet holds is refused, and that wallet is named', async () => {
    const stranger = addressOf(Keypair.generate())
    for (const frozen of [false, true]) {
      const { plugin, stake, release } = await staking()
      expect((await plugin(frozen, stranger)).err).toBeNull()
      const staked = await stake()
      expect([staked.status, staked.json.error.param]).toEqual([400, 'asset'])
      expect(staked.json.error.message).toContain(stranger)
      const released = await release()
      expect([released.status, released.json.error.param]).toEqual([400, 'asset'])
      expect(released.json.error.message).toContain(frozen ? `frozen by ${stranger}` : 'is not staked')
    }
  })

  it('is made by its owner or the platform freezing it, and by no other wallet', async () => {
    const scene = await staking(await startPlatform(null))
    const { request, funded, adding, updating, followed, told, state } = scene
    const market = funded()
    await followed(adding(true, addressOf(market)))
    expect([await told(), (await request('GET', '/v2/stakes')).json.data]).toEqual([[], []])
    expect((await state()).status).toBe('unstaked')
    await followed(updating(true, market), market)
    await followed(updating(false, market), market)
    expect(await told()).toEqual([])
    for (const holder of ['Owner', 'user', 'wallet'] as const) {
      const other = await staking()
      await other.followed(other.adding(true, holder === 'Owner' ? holder : addressOf(other[holder])))
      expect([holder, await other.told()]).toEqual([holder, ['stake.acquired', 'nft.staked']])
      expect((await other.state()).status).toBe('staked')
    }
    // With our memo it is one, whoever holds it.
    const given = await staking()
    const sdk = await loadCore()
    const instructions = sdk.instructions(given.adding(true, addressOf(market))(sdk))
    const memo = await memoInstruction(`svc:stake:${given.asset}:acme`, [addressOf(given.user)])
    const recentBlockhash = given.chain.latestBlockhash().blockhash
    const { transaction } = await compileUnsigned({ payer: addressOf(given.user), recentBlockhash }, [
      ...instructions,
      memo,
    ])
    await given.submit({ transaction: Buffer.from(transaction).toString('base64'), requiredSigners: [] }, [given.user])
    await given.settle()
    expect(await given.told()).toEqual(['stake.acquired', 'nft.staked'])
    expect(await given.state()).toMatchObject({ status: 'staked', platform_id: 'acme' })
  })

  it.skipIf(!inSoak)('that is frozen again emits no event, and keeps its platform', { tags: 'sampled' }, async () => {
    const { user, stake, submit, settle, updating, followed, told, state } = await staking()
    await submit((await stake()).json.data, [user], { metadata: { tier: 'gold' } })
    await settle()
    await followed(updating(true))
    expect(await told()).toEqual(['stake.acquired', 'nft.staked'])
    expect(await state()).toMatchObject({ status: 'staked', platform_id: 'acme', metadata: { tier: 'gold' } })
    await followed(updating(false))
    expect(await state()).toMatchObject({ status: 'unstaked', platform_id: 'acme' })
    await followed(updating(true))
    expect(await told()).toEqual([
      'stake.acquired',
      'nft.staked',
      'stake.released',
      'nft.unstaked',
      'stake.acquired',
      'nft.staked',
    ])
    expect(await state()).toMatchObject({ status: 'staked', platform_id: null, metadata: null })
  })

  it('has the platform id of its memo, with any letters, and refuses one that cannot be written', async () => {
    const scene = await staking()
    const { user, submit, settle, stake, state } = scene
    const platform_id = `a:b ${'€'.repeat(59)}!`
    await submit((await stake({ platform_id })).json.data, [user])
    await settle()
    expect(await state()).toMatchObject({ status: 'staked', platform_id })
    for (const bad of ['', 'x'.repeat(65), 'a\0b', 'two\nlines']) {
      const { status, json } = await stake({ platform_id: bad })
      expect([status, json.error.param]).toEqual([400, 'platform_id'])
    }
  })
})

describe.skipIf(lacksCore)('with the platform as freeze authority', () => {
  it('an asset is released by its owner and the platform together, which signs that and leaves a trace', async () => {
    const scene = await staking(await ownFreezing())
    const { request, wallet, user, asset, into, submit, settle, stake, release, state } = scene
    const staked = (await stake()).json.data
    expect(staked.requiredSigners).toEqual([addressOf(user)])
    await submit(staked, [user])
    await settle()
    expect((await state()).status).toBe('staked')
    const released = (await release({ platform_fee: 1_000 })).json.data
    expect(released.requiredSigners).toEqual([addressOf(user)])
    const signature = await submit(released, [user])
    await settle()
    expect((await request('GET', `/v2/transactions/${signature}`)).json.data).toMatchObject({ err: null })
    expect((await state()).status).toBe('unstaked')
    expect((await eventsOf(scene, asset)).map(({ type }) => type)).toEqual([
      'stake.acquired',
      'nft.staked',
      'stake.released',
      'nft.unstaked',
    ])
    const [operator, ...log] = (await request('GET', '/v2/audit-entries?order=asc')).json.data
    expect(operator.action).toBe('api_key.created')
    const about = { operation: 'stake.release', role: 'cosigns', asset, collection: into, payer: addressOf(user) }
    expect(log.map(({ action, signer, details }: Record<string, unknown>) => ({ action, signer, details }))).toEqual([
      {
        action: 'signing.intended',
        signer: addressOf(wallet),
        details: expect.objectContaining({ ...about, message_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }),
      },
      {
        action: 'signing.signed',
        signer: addressOf(wallet),
        details: expect.objectContaining({ ...about, signature: expect.any(String) }),
      },
    ])
    expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true, entries: 3 })
    const spent = (await request('GET', '/v2/signer')).json.data.spent
    expect(spent.lamports).toBe('0')
  })

  it('an asset is released although receivers are restricted, because only its owner gets it back', async () => {
    const { request, user, submit, settle, land, stake, release } = await staking(await ownFreezing())
    await submit((await stake()).json.data, [user])
    await settle()
    await request('PATCH', '/v2/signer/policy', { body: { destinations: [] } })
    expect(land((await release()).json.data, user).err).toBeNull()
  })

  it('nothing is released while the signer is paused, and the log records the request', async () => {
    const { request, user, submit, settle, stake, release } = await staking(await ownFreezing())
    await submit((await stake()).json.data, [user])
    await settle()
    await request('POST', '/v2/signer/pauses', { body: { reason: 'an audit' } })
    const { status, json } = await release()
    expect([status, json.error.details.rule]).toEqual([400, 'paused'])
    expect(json.error.message).toContain('an audit')
    const [last] = (await request('GET', '/v2/audit-entries')).json.data
    expect([last.action, last.details]).toMatchObject([
      'signing.refused',
      { operation: 'stake.release', rule: 'paused' },
    ])
    await request('POST', '/v2/signer/resumptions', { body: {} })
    expect((await release()).status).toBe(200)
  })

  it('an asset that the platform wallet has frozen for another reason is not a stake, for any key', async () => {
    const { request, wallet, into, user, asset, plugin, release } = await staking(await ownFreezing())
    const { key } = (await request('POST', '/v2/api-keys', { body: { name: 'any', scopes: [] } })).json.data
    const ask = () =>
      request('DELETE', `/v2/stakes/${asset}`, {
        body: { user: addressOf(user), platform_id: 'acme', collection: into },
        headers: { authorization: `Bearer ${key}` },
      })
    const refused = async () => {
      for (const { status, json } of [await ask(), await release()]) {
        expect([status, json.error.param]).toEqual([400, 'asset'])
        expect(json.error.message).toContain('frozen by the platform wallet, and no stake of it was followed here')
      }
      // The wallet signed nothing: the operator's key and the one that asks are all that the log tells of.
      const { data } = (await request('GET', '/v2/audit-entries')).json
      const made = ['api_key.created', 'api_key.created']
      expect(data.map(({ action }: { action: string }) => action)).toEqual(made)
    }
    // Never seen; followed, but without our memo.
    expect((await plugin(true, addressOf(wallet))).err).toBeNull()
    await refused()
    const other = await staking(await sharedFreezing())
    await other.followed(other.adding(true, addressOf(other.wallet)))
    expect((await other.state()).status).toBe('staked')
    expect((await other.release()).status).toBe(400)
  })

  it.skipIf(!inSoak)(
    'a former stake that is frozen again for another reason is not a stake',
    { tags: 'sampled' },
    async () => {
      const { wallet, user, stake, submit, settle, plugin, state, release } = await staking(await sharedFreezing())
      await submit((await stake()).json.data, [user])
      await settle()
      await submit((await release()).json.data, [user])
      await settle()
      expect((await plugin(true, addressOf(wallet))).err).toBeNull()
      expect((await release()).status).toBe(400)
      expect(await state()).toMatchObject({ status: 'staked', platform_id: null })
      expect((await release()).status).toBe(400)
    },
  )

  it.skipIf(!inSoak)(
    'an asset that was staked, released elsewhere and given to the platform wallet is not a stake',
    { tags: 'sampled' },
    async () => {
      const { wallet, user, stake, submit, settle, land, plugin, release } = await staking()
      await submit((await stake()).json.data, [user])
      await settle()
      expect(land((await release()).json.data, user).err).toBeNull()
      expect((await plugin(true, addressOf(wallet))).err).toBeNull()
      const { status, json } = await release()
      expect([status, json.error.details.status]).toEqual([400, 'staked'])
    },
  )

  it.skipIf(!inSoak)(
    'a stake that landed without this service is released once its transaction was submitted',
    { tags: 'sampled' },
    async () => {
      const { user, stake, submit, settle, land, release } = await staking(await sharedFreezing())
      const staked = (await stake()).json.data
      expect(land(staked, user).err).toBeNull()
      expect((await release()).json.error.message).toContain('POST /v2/transactions')
      await submit(staked, [user])
      await settle()
      expect(land((await release()).json.data, user).err).toBeNull()
    },
  )

  it('an asset that another platform has frozen stays its own', async () => {
    const { plugin, release, wallet } = await staking(await sharedFreezing())
    const other = addressOf(Keypair.generate())
    expect((await plugin(true, other)).err).toBeNull()
    const { status, json } = await release()
    expect([status, json.error.details]).toEqual([400, { freeze_authority: { type: 'Address', address: other } }])
    expect(json.error.message).not.toContain(addressOf(wallet))
  })

  it('nothing is staked without a signer, because nobody could release it', async () => {
    const scene = await assetsOn(await startService({ settings: PLATFORM }))
    const user = scene.funded()
    const into = await scene.collection(user)
    const asset = await scene.minted(user, into)
    const body = { user: addressOf(user), platform_id: 'a', collection: into, asset }
    const { status, json } = await scene.request('POST', '/v2/stakes', { body })
    expect([status, json.error.message]).toEqual([500, expect.stringContaining('No signer is configured')])
  })
})
