/** What the platform wallet signs for others: mints into listed collections and the release of one asset, and nothing else. */
import {
  addPlugin,
  create,
  createCollection,
  removePlugin,
  transferV1,
  updateCollectionV1,
  updatePlugin,
} from '@metaplex-foundation/mpl-core'
import { Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it, vi } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { readMovement } from '../../src/chain/sending/movements.ts'
import { withoutReleased } from '../../src/policy/movement/freeze-release.ts'
import { reconcileReadings } from '../../src/policy/movement/reconcile-readings.ts'
import type { TouchedAccount } from '../../src/policy/movement/touched-accounts.ts'
import { parseSetting } from '../../src/settings/config.ts'
import type { DecodedMessage } from '../../src/solana/decoded-message.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { METAPLEX_CORE } from '../../src/solana/programs/metaplex-core.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addressOf, assetsOn, lacksCore, TEXTS } from '../support/assets.ts'
import { type Limits, startPlatform } from '../support/platform-wallet.ts'
import type { Requester } from '../support/request.ts'
import { inSoak } from '../support/runs.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { openScene, type Told, text } from './movements-support.ts'

const someone = () => Keypair.generate().publicKey

/** A collection of the platform wallet, listed or not. */
async function issuing({ listed = true, limits = null as Limits | null } = {}) {
  const wallet = Keypair.generate()
  const dataDir = temporaryFolder()
  const first = await assetsOn(await startPlatform(limits, { wallet, dataDir }))
  const into = await first.collection(first.funded(), addressOf(wallet))
  const other = await first.collection(first.funded(), addressOf(wallet))
  await first.services.close()
  const settings = { 'nfts.cosign-collections': listed ? [into] : [] }
  const scene = await assetsOn(await startPlatform(null, { wallet, dataDir, settings }))
  const user = scene.funded()
  const mint = (more: object = {}) =>
    scene.request('POST', '/v2/nfts', {
      body: { payer: addressOf(user), platform_id: 'a', collection: into, ...TEXTS, ...more },
    })
  return { ...scene, wallet, dataDir, into, other, user, mint }
}

describe.skipIf(lacksCore)('a cosigned mint', () => {
  it('into a listed collection has the platform signature, and lands with that of the payer', async () => {
    const { request, wallet, into, user, mint, submit, settle } = await issuing()
    expect((await request('GET', `/v2/collections/${into}`)).json.data).toMatchObject({
      update_authority: addressOf(wallet),
      cosigned: true,
    })
    const balance = async () => (await request('GET', `/v2/accounts/${addressOf(wallet)}`)).json.data.lamports
    const before = await balance()
    const minting = (await mint()).json.data
    expect(minting.requiredSigners).toEqual([addressOf(user)])
    await submit(minting, [user])
    await settle()
    expect((await request('GET', `/v2/nfts/${minting.asset}`)).json.data).toMatchObject({
      collection: into,
      owner: addressOf(user),
    })
    expect(await balance()).toBe(before)
    const log = await logOf(request, 'asc')
    const about = { operation: 'nft.create', role: 'cosigns', asset: minting.asset, collection: into }
    expect(log).toMatchObject([
      { action: 'signing.intended', details: about },
      { action: 'signing.signed', details: about },
    ])
  })

  it('has that signature only once: a fresh blockhash is refused, or needs no signer', async () => {
    const { request, wallet, user, mint } = await issuing()
    const { transaction, asset, ...minting } = (await mint()).json.data
    expect(minting).not.toHaveProperty('generated_keys')
    const refresh = (one: string) => request('POST', '/v2/transactions/refresh', { body: { transactions: [one] } })
    const { status, json } = await refresh(transaction)
    expect([status, json.error.param]).toEqual([400, 'transactions.0'])
    expect(json.error.details.signed_by.toSorted()).toEqual([asset, addressOf(wallet)].toSorted())
    const bare = Buffer.from(transaction, 'base64')
    bare.fill(0, 1, 1 + 64 * 3)
    const refreshed = (await refresh(bare.toString('base64'))).json.data
    expect(refreshed.requiredSigners.toSorted()).toEqual([addressOf(user), asset, addressOf(wallet)].toSorted())
    const { signatures } = decodeWireTransaction(Buffer.from(refreshed.transactions[0], 'base64'))
    expect(signatures.flatMap((signature) => [...signature]).every((byte) => byte === 0)).toBe(true)
    const log = await logOf(request)
    expect(log.map(({ action }: { action: string }) => action)).toEqual(['signing.signed', 'signing.intended'])
  })

  it('has no signature of the platform in a dry run, and leaves nothing in the audit log', async () => {
    const { request, wallet, mint } = await issuing()
    const { status, json } = await mint({ dry_run: true })
    expect(status, JSON.stringify(json)).toBe(200)
    const { message, signatures } = decodeWireTransaction(Buffer.from(json.data.transaction, 'base64'))
    const place = message.keys.indexOf(addressOf(wallet))
    expect([place < message.signers, signatures[place]!.every((byte) => byte === 0)]).toEqual([true, true])
    expect(await logOf(request)).toEqual([])
  })

  it('into any other collection of the platform must be signed by the platform on its own', async () => {
    const { request, wallet, user, other, mint } = await issuing()
    const { json } = await mint({ collection: other })
    expect(json.data.requiredSigners).toEqual([addressOf(user), addressOf(wallet)])
    const { signatures } = decodeWireTransaction(Buffer.from(json.data.transaction, 'base64'))
    expect(signatures.map((signature) => signature.some((byte) => byte !== 0))).toEqual([false, true, false])
    expect(await logOf(request)).toEqual([])
    expect((await request('GET', `/v2/collections/${other}`)).json.data.cosigned).toBe(false)
    const unlisted = await issuing({ listed: false })
    expect((await unlisted.mint()).json.data.requiredSigners).toHaveLength(2)
  })

  it.skipIf(!inSoak)(
    'by another authority of a listed collection must be signed by that one, with or without a signer',
    { tags: 'sampled' },
    async () => {
      const { services, into, dataDir, funded, collection } = await issuing()
      const issuer = funded()
      const theirs = await collection(issuer)
      await services.close()
      const settings = { 'nfts.cosign-collections': [into, theirs] }
      const ask = async (scene: Pick<Awaited<ReturnType<typeof startService>>, 'request'>, more: object) => {
        const body = { payer: addressOf(Keypair.generate()), platform_id: 'a', collection: theirs, ...TEXTS, ...more }
        const { status, json } = await scene.request('POST', '/v2/nfts', { body })
        return [status, json.data?.requiredSigners?.slice(1) ?? json.error.message]
      }
      const named = { authority: addressOf(issuer) }
      const signing = await startPlatform(null, { dataDir, settings })
      for (const more of [named, {}]) expect(await ask(signing, more)).toEqual([200, [addressOf(issuer)]])
      expect(await logOf(signing.request)).toEqual([])
      await signing.services.close()
      const without = await startService({ dataDir, settings })
      expect(await ask(without, named)).toEqual([200, [addressOf(issuer)]])
      expect(await ask(without, {})).toEqual([500, expect.stringContaining('No signer is configured')])
    },
  )

  it('is not signed while the signer is paused, nor for a payer who cannot pay', async () => {
    const { request, mint } = await issuing()
    const poor = await mint({ payer: addressOf(Keypair.generate()) })
    expect([poor.status, poor.json.error.details.rule]).toEqual([400, 'simulation'])
    await request('POST', '/v2/signer/pauses', { body: {} })
    const paused = await mint()
    expect([paused.status, paused.json.error.details.rule]).toEqual([400, 'paused'])
    const log = await logOf(request, 'asc')
    expect(log.map(({ action }: { action: string }) => action)).toEqual([
      'signing.refused',
      'signer.paused',
      'signing.refused',
    ])
  })

  it('is not returned if the signer is paused while its provider signs', async () => {
    const { request, services, mint } = await issuing()
    const signer = (await services.signer())!
    const sign = signer.sign.bind(signer)
    vi.spyOn(signer, 'sign').mockImplementation(async (bytes) => {
      const signature = await sign(bytes)
      expect((await request('POST', '/v2/signer/pauses', { body: {} })).status).toBe(200)
      return signature
    })
    const { status, json } = await mint()
    expect([status, json.error.details.rule]).toEqual([400, 'paused'])
    const log = await logOf(request, 'asc')
    expect(log.map(({ action }: { action: string }) => action)).toEqual(['signing.intended', 'signer.paused'])
  })

  it.skipIf(!inSoak)('is not signed on a chain for which the signer is not marked', { tags: 'sampled' }, async () => {
    const { services, wallet, dataDir, into, user } = await issuing()
    await services.close()
    const settings = { 'nfts.cosign-collections': [into], 'signer.cluster': 'devnet' }
    const { request } = await startPlatform(null, { wallet, dataDir, settings })
    const body = { payer: addressOf(user), platform_id: 'a', collection: into, ...TEXTS }
    const { status, json } = await request('POST', '/v2/nfts', { body })
    expect([status, json.error.message]).toEqual([500, expect.stringContaining('restricted to devnet')])
    expect(await logOf(request)).toEqual([])
  })

  it('at the address of the platform wallet itself is never signed', async () => {
    const { wallet, mint } = await issuing()
    const { status, json } = await mint({ asset: addressOf(wallet) })
    expect([status, json.error.param]).toEqual([400, 'asset'])
  })

  it.skipIf(!inSoak)('whose policy lacks the program is refused by its rule', { tags: 'sampled' }, async () => {
    const { request, mint } = await issuing()
    const { programs } = (await request('GET', '/v2/signer')).json.data.policy
    const body = { programs: programs.filter((id: string) => id !== PROGRAMS.core.id) }
    expect((await request('PATCH', '/v2/signer/policy', { body })).status).toBe(200)
    const refused = await mint()
    expect([refused.status, refused.json.error.details.rule]).toEqual([400, 'program'])
  })

  it.skipIf(!inSoak)(
    'under an Idempotency-Key returns the same asset again, and is signed once',
    { tags: 'sampled' },
    async () => {
      const { request, into, user } = await issuing()
      const body = { payer: addressOf(user), platform_id: 'a', collection: into, ...TEXTS }
      const ask = () => request('POST', '/v2/nfts', { body, headers: { 'idempotency-key': 'k' } })
      const [first, second] = [await ask(), await ask()]
      expect(second.json.data).toEqual(first.json.data)
      expect(await logOf(request)).toHaveLength(2)
    },
  )
})

/** An asset of a user that the wallet alone can thaw. */
async function frozenScene() {
  const scene = await openScene({ programs: true })
  const sdk = await loadCore()
  const { context, signer, key, instructions } = sdk
  const user = scene.stranger
  const collection = Keypair.generate()
  scene.send(
    instructions(
      createCollection(context, {
        collection: signer(text(collection.publicKey)),
        payer: signer(text(user.publicKey)),
        updateAuthority: key(text(user.publicKey)),
        ...TEXTS,
      }),
    ),
    [user, collection],
  )
  const own = {
    collection: key(text(collection.publicKey)),
    payer: signer(text(user.publicKey)),
    authority: signer(text(user.publicKey)),
  }
  const mint = (owner = user) => {
    const asset = Keypair.generate()
    const minting = create(context, {
      ...own,
      asset: signer(text(asset.publicKey)),
      collection: { publicKey: own.collection } as never,
      owner: key(text(owner.publicKey)),
      ...TEXTS,
    })
    scene.send(instructions(minting), [user, asset])
    return text(asset.publicKey)
  }
  const frozen = (owner = user) => {
    const asset = mint(owner)
    const plugin = {
      type: 'FreezeDelegate',
      frozen: true,
      authority: { type: 'Address', address: key(scene.address) },
    } as const
    const by = signer(text(owner.publicKey))
    scene.send(instructions(addPlugin(context, { ...own, payer: by, authority: by, asset: key(asset), plugin })), [
      owner,
    ])
    return asset
  }
  const thaw = (asset: string) =>
    updatePlugin(context, {
      ...own,
      asset: key(asset),
      authority: signer(scene.address),
      plugin: { type: 'FreezeDelegate', frozen: false },
    })
  const remove = (asset: string, as = user) =>
    removePlugin(context, {
      ...own,
      authority: signer(text(as.publicKey)),
      asset: key(asset),
      plugin: { type: 'FreezeDelegate' },
    })
  /** The rule that refuses the wallet's signature; null where it is given. */
  const ruleFor = async (release: string | undefined, made: TransactionInstruction[], told: Told = {}) => {
    const transaction = decodeWireTransaction(scene.compile(made, { payer: user }).serialize())
    const movement = await readMovement(
      scene.chain,
      transaction,
      scene.address,
      release === undefined ? {} : { release },
    )
    return scene.ruleOf(movement, { role: 'cosigns', ...told })
  }
  return { ...scene, ...sdk, scene, user, own, mint, frozen, thaw, remove, ruleFor, into: text(collection.publicKey) }
}

describe.skipIf(lacksCore)('the release of an asset', () => {
  it('is signed for that asset, and only if the request is its release', async () => {
    const { frozen, thaw, remove, ruleFor, instructions } = await frozenScene()
    const [asset, another] = [frozen(), frozen()]
    const release = instructions(thaw(asset), remove(asset))
    expect(await ruleFor(asset, release)).toBeNull()
    expect(await ruleFor(asset, release, { policy: { destinations: [] } })).toBeNull()
    expect(await ruleFor(undefined, release)).toBe('authority')
    expect(await ruleFor(another, release)).toBe('authority')
    const both = instructions(thaw(asset), remove(asset), thaw(another), remove(another))
    expect(await ruleFor(asset, both)).toBe('authority')
    expect(await ruleFor(another, both)).toBe('authority')
  })

  it('allows nothing else in the same transaction', async () => {
    const world = await frozenScene()
    const { scene, user, own, frozen, thaw, remove, ruleFor, instructions, context, signer, key, core } = world
    const asset = frozen()
    const release = instructions(thaw(asset), remove(asset))
    const thief = key(text(someone()))
    // What the wallet has: SOL, an asset, a collection.
    expect(await ruleFor(asset, [...release, scene.pay(user.publicKey, 1n)])).toBe('lamports_per_transaction')
    const treasure = world.mint(scene.wallet)
    const stolen = transferV1(context, {
      ...own,
      asset: key(treasure),
      authority: signer(scene.address),
      newOwner: thief,
    })
    expect(await ruleFor(asset, [...release, ...instructions(stolen)])).toBe('authority')
    const owned = Keypair.generate()
    scene.send(
      instructions(
        core.createCollection(context, {
          collection: signer(text(owned.publicKey)),
          payer: signer(text(user.publicKey)),
          updateAuthority: key(scene.address),
          ...TEXTS,
        }),
      ),
      [user, owned],
    )
    const taken = updateCollectionV1(context, {
      collection: key(text(owned.publicKey)),
      payer: signer(text(user.publicKey)),
      authority: signer(scene.address),
      newUpdateAuthority: thief,
      newName: null,
      newUri: null,
    })
    expect(await ruleFor(asset, [...release, ...instructions(taken)])).toBe('authority')
    // A mint would pass by itself; beside a release it makes the release no release.
    const extra = create(context, {
      ...own,
      asset: signer(text(someone())),
      collection: { publicKey: key(text(owned.publicKey)) } as never,
      authority: signer(scene.address),
      owner: thief,
      ...TEXTS,
    })
    expect(await ruleFor(asset, [...release, ...instructions(extra)])).toBe('authority')
    const bonus = SystemProgram.transfer({ fromPubkey: user.publicKey, toPubkey: scene.key, lamports: 5 })
    expect(await ruleFor(asset, [...release, bonus])).toBeNull()
  })

  it('cannot take an asset of the wallet itself, nor another plugin that names it', async () => {
    const { scene, user, own, mint, frozen, thaw, remove, ruleFor, instructions, context, key } = await frozenScene()
    const mine = frozen(scene.wallet)
    expect(await ruleFor(mine, instructions(thaw(mine), remove(mine, scene.wallet)))).not.toBeNull()
    const asset = mint()
    const plugin = { type: 'TransferDelegate', authority: { type: 'Address', address: key(scene.address) } } as const
    scene.send(instructions(addPlugin(context, { ...own, asset: key(asset), plugin })), [user])
    const dropped = removePlugin(context, { ...own, asset: key(asset), plugin: { type: 'TransferDelegate' } })
    const signing = SystemProgram.transfer({ fromPubkey: scene.key, toPubkey: scene.key, lamports: 0 })
    expect(await ruleFor(asset, [...instructions(dropped), signing])).toBe('authority')
  })

  it('thaws a frozen asset, and removes the plugin', async () => {
    const { scene, user, own, mint, frozen, thaw, remove, ruleFor, instructions, core, context, signer, key } =
      await frozenScene()
    const plugin = { type: 'FreezeDelegate' } as const
    const revoke = (asset: string, as: string) =>
      core.revokePluginAuthority(context, { ...own, asset: key(asset), authority: signer(as), plugin })
    // Its authority goes to the owner, while the plugin stays.
    const kept = frozen()
    expect(await ruleFor(kept, instructions(thaw(kept), revoke(kept, text(user.publicKey))))).toBe('authority')
    const idle = mint()
    const unfrozen = {
      ...plugin,
      frozen: false,
      authority: { type: 'Address', address: key(scene.address) },
    } as const
    scene.send(instructions(addPlugin(context, { ...own, asset: key(idle), plugin: unfrozen })), [user])
    expect(await ruleFor(idle, instructions(thaw(idle), remove(idle)))).toBe('authority')
    // The wallet gives its authority up by another instruction than the thaw, with the same end.
    expect(await ruleFor(idle, instructions(revoke(idle, scene.address), remove(idle)))).toBe('authority')
  })

  it.skipIf(!inSoak)('leaves the other plugins unchanged, or is not a release', { tags: 'sampled' }, async () => {
    const { scene, user, own, frozen, thaw, remove, ruleFor, instructions, context, key } = await frozenScene()
    const asset = frozen()
    const burner = { type: 'BurnDelegate', authority: { type: 'Address', address: key(scene.address) } } as const
    scene.send(instructions(addPlugin(context, { ...own, asset: key(asset), plugin: burner })), [user])
    const release = instructions(thaw(asset), remove(asset))
    expect(await ruleFor(asset, release)).toBeNull()
    const more = removePlugin(context, { ...own, asset: key(asset), plugin: { type: 'BurnDelegate' } })
    expect(await ruleFor(asset, [...release, ...instructions(more)])).toBe('authority')
    const away = transferV1(context, { ...own, asset: key(asset), newOwner: key(text(someone())) })
    expect(await ruleFor(asset, [...release, ...instructions(away)])).toBe('authority')
  })
})

it('an asset counts as released only by its own thaw, beside which the wallet does nothing else', () => {
  const keys = ['payer', 'wallet', 'asset', 'another', PROGRAMS.core.id]
  const account = { lamports: 1n, owner: PROGRAMS.core.id, data: new Uint8Array(), executable: false }
  const touched = { before: { account }, after: { account }, offsets: [1] } as unknown as TouchedAccount
  const freeze = { frozen: true, authority: { type: 'Address', address: 'wallet' } }
  const release = {
    asset: 'asset',
    before: { owner: 'payer', freeze, decoded: {} },
    after: { owner: 'payer', freeze: null, decoded: {} },
  }
  const call = (asset: number, frozen = false) => ({
    programIdIndex: 4,
    accounts: Uint8Array.of(asset, 1),
    data: METAPLEX_CORE.data('update_plugin_v1', { plugin: { name: 'FreezeDelegate', value: { frozen } } }),
  })
  const isReleased = (...instructions: ReturnType<typeof call>[]) => {
    const message = { keys, instructions } as unknown as DecodedMessage
    return withoutReleased('wallet', release, message, new Map([['asset', touched]])).get('asset')?.offsets.length === 0
  }
  expect(isReleased(call(2))).toBe(true)
  for (const others of [[], [call(3)], [call(2, true)], [call(2), call(3)]]) expect(isReleased(...others)).toBe(false)
})

/** What the audit log says beside the making of API keys. */
async function logOf(request: Requester, order = 'desc') {
  const { data } = (await request('GET', `/v2/audit-entries?order=${order}`)).json
  return data.filter(({ action }: { action: string }) => action !== 'api_key.created')
}

describe('a collection that others mint into meanwhile', () => {
  const wallet = text(someone())
  const owner = PROGRAMS.core.id
  const collection = (minted: number, more: Partial<{ authority: number; plugin: number; key: number }> = {}) => {
    const { authority = 7, plugin = 0, key = 5 } = more
    const [name, uri, counters] = [Buffer.from('\x02\0\0\0ab'), Buffer.from('\x01\0\0\0c'), Buffer.alloc(8)]
    counters.writeUInt32LE(minted, 0)
    counters.writeUInt32LE(minted, 4)
    const data = Buffer.concat([
      Buffer.from([key]),
      Buffer.alloc(32, authority),
      name,
      uri,
      counters,
      Buffer.from([plugin]),
    ])
    return { lamports: 1n, owner, data, executable: false }
  }
  const between = (old: ReturnType<typeof collection>, now: ReturnType<typeof collection>) =>
    reconcileReadings(wallet, ['c'], [old], [now])

  it('changes only in its counters', () => {
    expect(between(collection(1), collection(2))).toEqual([collection(1)])
    expect(between(collection(1), collection(2, { authority: 8 }))).toBeNull()
    expect(between(collection(1), collection(2, { plugin: 1 }))).toBeNull()
    expect(between(collection(1), { ...collection(2), lamports: 2n })).toBeNull()
    // An asset has no counters.
    expect(between(collection(1, { key: 1 }), collection(2, { key: 1 }))).toBeNull()
  })
})

describe('the setting of collections to sign for', () => {
  it('has addresses, or is refused by its name', () => {
    const address = text(someone())
    expect(parseSetting('nfts.cosign-collections', `${address},${address}`, 'profile')).toEqual([address, address])
    expect(parseSetting('nfts.cosign-collections', [], 'profile')).toEqual([])
    for (const wrong of ['Genesis', `${address},x`, [`${address} `], [7]]) {
      expect(() => parseSetting('nfts.cosign-collections', wrong, 'profile')).toThrow(
        /^nfts\.cosign-collections \(profile\) must be a list/,
      )
    }
  })
})
