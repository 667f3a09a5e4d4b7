/** The comparison of stored events with the chain names what is missing and what is extra, over as many steps as it takes. */
import { randomBytes } from 'node:crypto'
import { create } from '@metaplex-foundation/mpl-core'
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { writeEvent } from '../../src/store/events/drafts.ts'
import { addressOf, assetsOn, lacksCore } from '../support/assets.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { inSoak } from '../support/runs.ts'
import { makeKey } from '../support/service.ts'
import { actsOn } from './acts.ts'

async function verified() {
  const scene = await assetsOn(await startPlatform(null))
  const acts = await actsOn(scene, 'past')
  const user = scene.funded()
  const made = await scene.built('POST', '/v2/collections', {
    payer: addressOf(user),
    name: 'C',
    uri: 'https://example.com/c.json',
  })
  await scene.submit(made, [user])
  await acts.settle(1)
  const { instructions, context, signer, key } = await loadCore()
  const mint = () => {
    const asset = Keypair.generate()
    const minting = create(context, {
      asset: signer(addressOf(asset)),
      collection: { publicKey: key(made.collection) },
      payer: signer(addressOf(user)),
      authority: signer(addressOf(user)),
      name: 'A',
      uri: 'https://example.com/a.json',
    })
    acts.past(acts.sign(instructions(minting), [user, asset]))
    acts.pass(1)
    return addressOf(asset)
  }
  const verify = async (query = 'since=0&until=99999999999') => {
    const found = { accounts: 0, transactions: 0, events: 0, missing: [] as object[], extra: [] as object[], steps: 0 }
    for (let cursor = ''; ; ) {
      const { status, json, text } = await scene.request('GET', `/v2/event-verification?${query}${cursor}`)
      expect(status, text).toBe(200)
      const { data } = json
      found.steps++
      for (const name of ['accounts', 'transactions', 'events'] as const) found[name] += data[name]
      found.missing.push(...data.missing)
      found.extra.push(...data.extra)
      if (data.next_cursor === null) return found
      cursor = `&cursor=${data.next_cursor}`
    }
  }
  return { ...scene, acts, mint, verify }
}

describe.skipIf(lacksCore)('the verification of events (needs Metaplex Core)', () => {
  it('finds nothing if all was reported, and names an event that was not', async () => {
    const { acts, mint, verify } = await verified()
    const told = mint()
    await acts.settle(3)
    expect(await verify()).toMatchObject({ missing: [], extra: [] })
    const untold = Array.from({ length: 60 }, mint)
    const { missing, steps } = await verify()
    expect(missing.map((each) => (each as { resource_id: string }).resource_id).sort()).toEqual([...untold].sort())
    expect(missing[0]).toMatchObject({ type: 'nft.created', resource_type: 'nft' })
    expect(steps).toBeGreaterThan(2)
    await acts.settle(3)
    expect(await verify()).toMatchObject({ missing: [], extra: [] })
    expect(told).not.toBe('')
  })

  it.skipIf(!inSoak)(
    'names a stored event that the chain does not confirm, and stays within its range',
    { tags: 'sampled' },
    async () => {
      const { acts, services, clock, verify, request } = await verified()
      const signature = base58.encode(randomBytes(64))
      const draft = {
        type: 'nft.created',
        resource_type: 'nft',
        resource_id: 'x',
        object: { signature, slot: acts.chain.slot(), source: 'chain' },
        dedupe_by: signature,
        origin: { external_uid: null, metadata_json: null },
      } as const
      await services.store.write(async (tx) => writeEvent(tx, clock, draft))
      expect((await verify()).extra).toEqual([
        {
          id: expect.stringMatching(/^evt_/),
          ...{ type: 'nft.created', resource_type: 'nft', resource_id: 'x', signature, reason: 'not_on_chain' },
        },
      ])
      const later = Math.floor(clock.now() / 1_000) + 1
      expect((await verify(`since=${later}&until=${later + 5}`)).extra).toEqual([])
      const backwards = await request('GET', '/v2/event-verification?since=10&until=5')
      expect([backwards.status, backwards.json.error.param]).toEqual([400, 'until'])
      const torn = await request('GET', '/v2/event-verification?since=10&cursor=events')
      expect([torn.status, torn.json.error.param]).toEqual([400, 'cursor'])
      const poor = await request('GET', '/v2/event-verification?since=10', { key: await makeKey(services) })
      expect(poor.status).toBe(403)
    },
  )
})
