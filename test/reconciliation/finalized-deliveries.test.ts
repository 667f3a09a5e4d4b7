/** Subscriptions to final events receive them once the transaction is final, in order, and never what a fork undoes. */
import { create } from '@metaplex-foundation/mpl-core'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { type FinalityFacts, finalityOf, releaseFinal } from '../../src/operations/webhook-deliveries/finality.ts'
import { unfinalDeliveries } from '../../src/store/webhooks/unfinal.ts'
import { addressOf, assetsOn, lacksCore } from '../support/assets.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { startReceiver } from '../support/receiver.ts'
import { actsOn } from './acts.ts'

async function subscribed(commitment: 'confirmed' | 'finalized' = 'finalized') {
  const scene = await assetsOn(await startPlatform(null, { settings: { 'webhooks.allow-private': true } as never }))
  const acts = await actsOn(scene, 'past')
  const [user, receiver] = [scene.funded(), await startReceiver()]
  const made = await scene.built('POST', '/v2/collections', {
    payer: addressOf(user),
    name: 'C',
    uri: 'https://example.com/c.json',
  })
  await scene.submit(made, [user])
  await acts.settle(2)
  // The next look at the collection is due when something happens.
  acts.pass(60)
  const body = { url: receiver.url, enabled_events: ['*'], commitment }
  const made2 = await scene.request('POST', '/v2/webhook-subscriptions', { body })
  expect([made2.status, made2.json.data?.commitment]).toEqual([201, commitment])
  const { instructions, context, signer, key } = await loadCore()
  const minting = () => {
    const asset = Keypair.generate()
    const mint = create(context, {
      asset: signer(addressOf(asset)),
      collection: { publicKey: key(made.collection) },
      payer: signer(addressOf(user)),
      authority: signer(addressOf(user)),
      name: 'A',
      uri: 'https://example.com/a.json',
    })
    return { asset: addressOf(asset), bytes: acts.sign(instructions(mint), [user, asset]) }
  }
  const told = async () => {
    await deliverRound(scene.services)
    return receiver.all.map(({ type, about }) => [type, about])
  }
  return { ...scene, acts, receiver, minting, told, id: made2.json.data.id as string }
}

describe.skipIf(lacksCore)('a subscription to final events (needs Metaplex Core)', () => {
  it('gets events found on the chain, and submitted ones, once each is final', async () => {
    const { acts, minting, told } = await subscribed()
    const [found, sent] = [minting(), minting()]
    acts.past(found.bytes)
    await acts.submit(sent.bytes)
    const signature = (await acts.events()).find(({ type }) => type === 'transaction.submitted')!
    acts.pass(2)
    acts.hold.isOn = true
    await acts.round()
    const created = (await acts.events()).filter(({ type }) => type === 'nft.created')
    expect(created).toHaveLength(2)
    // Nothing but the submission, which no fork undoes.
    expect((await told()).map(([type]) => type)).toEqual(['transaction.submitted'])
    acts.hold.isOn = false
    await acts.settle(2)
    const all = await told()
    expect(all.filter(([type]) => type === 'nft.created').map(([, asset]) => asset)).toEqual(
      expect.arrayContaining([found.asset, sent.asset]),
    )
    expect(all.map(([type]) => type).sort()).toEqual([
      'nft.created',
      'nft.created',
      'transaction.confirmed',
      'transaction.finalized',
      'transaction.submitted',
    ])
    expect(signature).toBeDefined()
  })

  it('gets events found before reconciliation was switched off', async () => {
    const { acts, minting, told } = await subscribed()
    acts.past(minting().bytes)
    acts.pass(2)
    acts.hold.isOn = true
    await acts.round()
    expect(await told()).toEqual([])
    acts.hold.isOn = false
    acts.pass(60)
    const { config } = acts.services
    const values = { ...config.values, 'reconciliation.calls-per-minute': 0 }
    await reconcileRecords({ ...acts.services, config: { ...config, values } })
    // A process that stops looks no further.
    const waiting = () => unfinalDeliveries(acts.services.store.db, 0, 100)
    const before = await waiting()
    await releaseFinal(acts.services, {}, AbortSignal.abort())
    expect(await waiting()).toEqual(before)
    expect(before.length).toBeGreaterThan(0)
    expect((await told()).map(([type]) => type)).toContain('nft.created')
  })

  it('that no longer asks for final events gets them at once, and a replay follows its setting', async () => {
    const { acts, minting, told, request, id } = await subscribed()
    acts.past(minting().bytes)
    acts.pass(2)
    acts.hold.isOn = true
    await acts.round()
    expect(await told()).toEqual([])
    const again = await request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body: { since: 0 } })
    expect(again.status).toBe(200)
    expect((await told()).map(([type]) => type)).not.toContain('nft.created')
    const changed = await request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { commitment: 'confirmed' } })
    expect([changed.status, changed.json.data.commitment]).toEqual([200, 'confirmed'])
    expect((await told()).map(([type]) => type)).toContain('nft.created')
  })
})

describe('the finality of an event', () => {
  const event = (type: string, object: object, resource_type = 'nft') =>
    ({
      sequence: 1,
      type,
      resource_type,
      resource_id: 'x',
      object_json: JSON.stringify(object),
      created_at: 0,
    }) as const
  const facts = (more: Partial<FinalityFacts>): FinalityFacts => ({
    end: undefined,
    finalSlot: 100,
    now: 1_000,
    ...more,
  })

  it('is that of its transaction on the final fork, whatever another fork has shown', () => {
    const minted = event('nft.created', { signature: 's', slot: 5 })
    const failed = event('transaction.failed', {}, 'transaction')
    const of = (each: typeof minted, end: FinalityFacts['end'], now = 1_000) => finalityOf(each, facts({ end, now }))
    expect([of(minted, 'open'), of(minted, 'executed'), of(minted, 'failed')]).toEqual(['open', 'final', 'undone'])
    expect([of(failed, 'failed'), of(failed, 'executed')]).toEqual(['final', 'undone'])
    // What a fork dropped may land again until no blockhash allows it.
    expect([of(minted, 'gone'), of(minted, 'gone', 601_000)]).toEqual(['open', 'undone'])
  })

  it('is that of its slot if no transaction is known, and immediate if the chain shows nothing', () => {
    const of = (object: object) => finalityOf(event('airdrop.fully_claimed', object, 'airdrop'), facts({}))
    expect([of({ slot: 100 }), of({ slot: 101 }), of({})]).toEqual(['final', 'open', 'final'])
  })
})
