/** Stored trees belong to the key that made them: nobody else exchanges what an id, a sponsorship or a signing refers to. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import type { Scope } from '../../src/api/route.ts'
import { addressOf, airdropsOn, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { endingOnceSigned } from '../support/dying-signer.ts'
import { type PlatformService, sharedPlatform, startPlatform } from '../support/platform-wallet.ts'
import { requester } from '../support/request.ts'
import { buildsOf, openSponsoredAirdrop, sponsorshipOf } from '../support/sponsored-airdrop.ts'

const TREES = '/v2/merkle-trees'
const WRITE = ['airdrop:write'] as const satisfies Scope[]

const shared = sharedPlatform(undefined, { settings: { 'claim-pages': true } })

/** A tree that the key `owner` has stored, and requests of other keys to put other lists in its place. */
async function storedTree(own?: PlatformService) {
  const service = own ?? (await shared())
  const all = await airdropsOn(service)
  const platform = service.wallet
  const [owner, thiefsKey] = [await all.key({ scopes: [...WRITE] }), await all.key({ scopes: [...WRITE] })]
  const [thief, ...listed] = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const
  const mint = all.mintFor(platform, 3_000n)
  await all.ok('PATCH', '/v2/signer/policy', { tokens: [{ mint, per_transaction: '3000', per_day: '3000' }] })
  const { json } = await all.request('POST', TREES, { body: { mint, entries: entriesFor(listed) }, key: owner })
  const tree = json.data as { id: string; root: string; created_by: string }
  const replaceBy = async (key = all.operator, wallets: readonly Keypair[] = [thief, ...listed]) => {
    const body = { mint, entries: entriesFor(wallets), replace: true }
    const { status, json } = await all.request('POST', TREES, { body, key })
    return { status, code: json.error?.code, message: json.error?.message as string, data: json.data }
  }
  const storedRoot = async () => (await all.ok('GET', `${TREES}/${tree.id}`)).root
  const replacements = async () => {
    const entries = await all.ok('GET', '/v2/audit-entries?action=merkle_tree.replaced')
    return entries.filter(({ details }: { details: { merkle_tree: string } }) => details.merkle_tree === tree.id)
  }
  return { ...all, platform, mint, tree, owner, thief, thiefsKey, listed, replaceBy, storedRoot, replacements }
}

describe('a stored tree', () => {
  it('can be replaced by the key that stored it, by airdrop:admin and by *, but by no other key', async () => {
    const { key, replaceBy, owner, thiefsKey, tree, storedRoot } = await storedTree()
    const refused = await replaceBy(thiefsKey)
    expect([refused.status, refused.code]).toEqual([403, 'forbidden'])
    expect(refused.message).toContain('was stored by another API key')
    expect(refused.message).toContain('use another airdrop_count than 0')
    expect(await storedRoot()).toBe(tree.root)
    const admin = await key({ scopes: [...WRITE, 'airdrop:admin'] })
    for (const allowed of [owner, admin, undefined]) {
      expect((await replaceBy(allowed, [Keypair.generate()])).status).toBe(201)
    }
    // A tree belongs to whoever stored the list that it has now.
    expect((await replaceBy(owner)).status).toBe(403)
  })

  it('says who stored it, and whether the asking key did', async () => {
    const { owner, thiefsKey, tree, request, ok, services, mint } = await storedTree()
    expect(tree.created_by).toMatch(/^key_/)
    const ownFor = async (key: string) => (await request('GET', `/v2/airdrops/${tree.id}`, { key })).json.data.own
    expect([await ownFor(owner), await ownFor(thiefsKey)]).toEqual([true, false])
    expect((await ok('GET', `/v2/airdrops?mint=${mint}`))[0].own).toBeNull()
    await services.store.write((tx) =>
      tx.updateTable('merkle_trees').set({ created_by: null }).where('id', '=', tree.id).execute(),
    )
    expect(await ownFor(owner)).toBe(false)
  })

  it('of an earlier version belongs to no key: only airdrop:admin or * replaces it', async () => {
    const { owner, replaceBy, services, key, tree } = await storedTree()
    await services.store.write((tx) =>
      tx.updateTable('merkle_trees').set({ created_by: null }).where('id', '=', tree.id).execute(),
    )
    const refused = await replaceBy(owner)
    expect([refused.status, refused.code]).toEqual([403, 'forbidden'])
    expect(refused.message).toContain('before trees had owners')
    expect((await replaceBy(await key({ scopes: [...WRITE, 'airdrop:admin'] }))).status).toBe(201)
  })

  it('has each replacement in the audit log: by whom, its owner, and both lists', async () => {
    const { tree, replaceBy, owner, replacements, request, mint } = await storedTree()
    const { data } = await replaceBy()
    // What is refused, or stored again as it is, replaces nothing.
    expect((await replaceBy(owner, [Keypair.generate()])).status).toBe(403)
    expect((await replaceBy()).status).toBe(200)
    const dry = { mint, entries: entriesFor([Keypair.generate()]), replace: true, persist: false }
    expect((await request('POST', TREES, { body: dry })).status).toBe(200)
    const entries = await replacements()
    expect(
      entries.map(({ api_key_id, details }: { api_key_id: string; details: object }) => [api_key_id, details]),
    ).toEqual([
      [
        data.created_by,
        {
          merkle_tree: tree.id,
          stored_by: tree.created_by,
          before: { root: tree.root, leaf_count: 2, total: '3000' },
          after: { root: data.root, leaf_count: 3, total: '6000' },
        },
      ],
    ])
  })

  it('that a sponsorship pays for cannot be replaced, even while the sponsorship is stopped', async () => {
    const { owner, replaceBy, ok, tree, storedRoot } = await storedTree()
    for (const change of [{ budget: '1000000', root: tree.root }, { enabled: false }]) {
      await ok('PATCH', sponsorshipOf(tree.id), change)
      for (const key of [owner, undefined]) {
        const { status, message } = await replaceBy(key)
        expect([status, message]).toEqual([400, expect.stringContaining('has a sponsorship')])
      }
    }
    expect(await storedRoot()).toBe(tree.root)
  })
})

describe('a sponsorship', () => {
  it('starts only for the root in the request, and says for which list and by whom', async () => {
    const { ok, refused, tree } = await storedTree()
    const path = sponsorshipOf(tree.id)
    const other = await refused('PATCH', path, { budget: '5', root: 'ab'.repeat(32) })
    expect([other.status, other.param, other.details.stored_root]).toEqual([400, 'root', tree.root])
    const begun = await ok('PATCH', path, { budget: '5', root: `0x${tree.root.toUpperCase()}` })
    expect(begun).toMatchObject({ root: tree.root, ended: false, budget: '5', updated_by: begun.created_by })
    expect(begun.created_by).toMatch(/^key_/)
  })

  it('for a list that another key stored and can still replace starts only with its root', async () => {
    const { ok, key, request, refused, tree, services } = await storedTree()
    const path = sponsorshipOf(tree.id)
    for (const whose of ['another', 'nobody']) {
      const without = await refused('PATCH', path, { budget: '5' })
      expect([whose, without.status, without.param]).toEqual([whose, 400, 'root'])
      await services.store.write((tx) =>
        tx.updateTable('merkle_trees').set({ created_by: null }).where('id', '=', tree.id).execute(),
      )
    }
    expect(await ok('PATCH', path, { budget: '5', root: tree.root })).toMatchObject({ root: tree.root })
    // Nobody can replace it any more.
    const admin = await key({ scopes: ['airdrop:admin'] })
    expect((await request('PATCH', path, { body: { budget: '7' }, key: admin })).status).toBe(200)
  })

  it('ends if the tree has another root, pays nothing, and restarts only with that root', async () => {
    const { ok, refused, app, tree, services, listed } = await storedTree()
    const path = sponsorshipOf(tree.id)
    await ok('PATCH', path, { budget: '5', root: tree.root })
    const root = 'cd'.repeat(32)
    await services.store.write((tx) => tx.updateTable('merkle_trees').set({ root }).where('id', '=', tree.id).execute())
    expect(await ok('GET', path)).toMatchObject({ root: tree.root, ended: true, enabled: true })
    const built = await refused('POST', buildsOf(tree.id), { claimer: addressOf(listed[0]) })
    expect([built.status, built.details.reason]).toEqual([404, 'not_sponsored'])
    expect(built.message).toContain('has ended, because its list was replaced')
    const page = await app.fetch(new Request(`http://svc.test/claim/${tree.id}/sponsorship`))
    expect([page.status, await page.json()]).toMatchObject([404, { error: { details: { reason: 'not_sponsored' } } }])
    for (const body of [{ budget: '9' }, { enabled: true }]) {
      expect(await refused('PATCH', path, body)).toMatchObject({ status: 400, param: 'root' })
    }
    expect(await ok('PATCH', path, { enabled: false })).toMatchObject({ ended: true, enabled: false })
    expect(await ok('PATCH', path, { root, enabled: true })).toMatchObject({ root, ended: false, budget: '5' })
  })
})

it('a sponsorship that starts while its tree is being replaced is for the list that stays', async () => {
  const { mint, request, storeTree, ok } = await storedTree()
  for (let airdrop_count = 1; airdrop_count <= 8; airdrop_count++) {
    const { id, root } = await storeTree(mint, entriesFor([Keypair.generate()]), airdrop_count)
    const body = { mint, airdrop_count, entries: entriesFor([Keypair.generate()]), replace: true }
    const [begun, replaced] = await Promise.all([
      request('PATCH', sponsorshipOf(id), { body: { budget: '5' } }),
      request('POST', TREES, { body }),
    ])
    expect([begun.status, [201, 400].includes(replaced.status)]).toEqual([200, true])
    const kept = await ok('GET', `${TREES}/${id}`)
    expect(kept.root === root).toBe(replaced.status === 400)
    expect(await ok('GET', sponsorshipOf(id))).toMatchObject({ root: kept.root, ended: false })
  }
})

describe.skipIf(lacksDistributor)('an airdrop by the platform wallet (needs the Jito merkle distributor)', () => {
  const initBody = ({ platform, mint }: { platform: Keypair; mint: string }, root: string) =>
    createBody(platform, mint, root, { mode: 'signed' })

  it('keeps its list: a thief gets neither its tokens nor lamports of its sponsorship', async () => {
    const all = await storedTree()
    const { tree, thief, thiefsKey, listed, replaceBy, ok, refused, chain, platform, vaultOf, mint } = all
    await ok('PATCH', sponsorshipOf(tree.id), { budget: '20300000', root: tree.root })
    expect((await replaceBy(thiefsKey)).status).toBe(403)
    // As `svc airdrops init ID` does, which goes by the root that is stored.
    await ok('POST', '/v2/airdrops', initBody(all, (await ok('GET', `/v2/airdrops/${tree.id}`)).root))
    const { distributor } = await vaultOf(mint)
    expect(await ok('GET', `/v2/airdrops/${tree.id}`)).toMatchObject({ distributor, on_chain_root: tree.root })
    const before = chain.account(addressOf(platform))!.lamports
    const robbed = await refused('POST', buildsOf(tree.id), { claimer: addressOf(thief) })
    expect([robbed.status, robbed.details.reason]).toEqual([404, 'not_listed'])
    const claimed = await refused('POST', `/v2/airdrops/${tree.id}/claims`, {
      claimer: addressOf(thief),
      platform_id: 'x',
      amount: '0',
    })
    expect([claimed.status, claimed.details.reason]).toEqual([404, 'not_listed'])
    expect(chain.account(addressOf(platform))!.lamports).toBe(before)
    const built = await ok('POST', buildsOf(tree.id), { claimer: addressOf(listed[0]) })
    expect(built.requiredSigners).toEqual([addressOf(listed[0])])
  })

  it('has no claims signed that were built before its sponsorship ended', async () => {
    const all = await openSponsoredAirdrop()
    const { first, build, submitted, services, sponsorship, lamportsOf } = all
    const built = await build(first)
    const before = lamportsOf(all.platform)
    await services.store.write((tx) =>
      tx
        .updateTable('sponsorships')
        .set({ root: 'cd'.repeat(32) })
        .execute(),
    )
    const { status, json } = await submitted(built, first)
    expect([status, json.error.details.reason]).toEqual([404, 'not_sponsored'])
    expect(await sponsorship()).toMatchObject({ ended: true, used: '0', pending: 0 })
    expect(lamportsOf(all.platform)).toBe(before)
  })

  it('keeps its list while its initialisation is being signed, until that can no longer land', async () => {
    const all = await storedTree()
    const { tree, owner, replaceBy, services, storedRoot, pass, operator } = all
    const { dying, isKilled } = await endingOnceSigned(services)
    const app = await createApp(dying)
    const ask = requester('http://svc.test', app.fetch, operator)
    await ask('POST', '/v2/airdrops', { body: initBody(all, tree.root) })
    await app.close()
    expect(isKilled()).toBe(true)
    for (const key of [owner, undefined]) {
      const { status, message } = await replaceBy(key)
      expect([status, message]).toEqual([
        400,
        expect.stringMatching(/the signing sgn_\w+ was started here .* may still land/),
      ])
    }
    expect(await storedRoot()).toBe(tree.root)
    pass(600)
    expect((await replaceBy(owner)).status).toBe(201)
  })

  it('is not signed if its list was replaced between build and signature', async () => {
    const all = await storedTree(await startPlatform())
    const { tree, owner, replaceBy, services, refused, ok, chain, vaultOf, mint } = all
    const { store } = services
    const write = store.write.bind(store)
    // The first write of the request is the reservation of its signing, after the build.
    store.write = async (work) => {
      store.write = write
      expect((await replaceBy(owner)).status).toBe(201)
      return write(work)
    }
    const late = await refused('POST', '/v2/airdrops', initBody(all, tree.root))
    expect([late.status, late.param]).toEqual([400, 'merkle_root'])
    expect(await ok('GET', '/v2/audit-entries?action=signing.intended')).toEqual([])
    expect(chain.account((await vaultOf(mint)).distributor)).toBeNull()
  })
})
