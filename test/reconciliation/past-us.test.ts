/** What strangers' clients do on the chain past the service is told as if they had done it through the service, each once. */
import { addPlugin, burn, create, transferV1, updatePlugin } from '@metaplex-foundation/mpl-core'
import * as spl from '@solana/spl-token'
import { AddressLookupTableAccount, AddressLookupTableProgram, Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { buildAirdropClaim, buildClawback } from '../../src/chain/programs/merkle-distributor/index.ts'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt } from '../../src/merkle/tree.ts'
import { addressOf, airdropsOn, createBody, DAY_S, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { assetsOn, lacksCore } from '../support/assets.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'
import { type Acts, actsOn, comparable, WAYS, type Way } from './acts.ts'

type Told = Record<Way, string[]>

/** Runs the same acts in both ways and compares what is told of them. */
async function compared(run: (way: Way) => Promise<string[]>): Promise<Told> {
  const told: Partial<Told> = {}
  for (const way of WAYS) told[way] = await run(way)
  expect(told.past).toEqual(told.through)
  return told as Told
}

const typesOf = (told: readonly string[]) => told.map((text) => text.slice(0, text.indexOf(' ')))

async function mintThrough({ request, submit, chain, sign }: Acts & { sign(text: string, keys: Keypair[]): string }) {
  void [request, submit, chain, sign]
}
void mintThrough

describe.skipIf(lacksCore)('assets (needs Metaplex Core)', () => {
  it('that a stranger mints, stakes, releases, transfers and burns are told of as if through the service', async () => {
    const { past } = await compared(async (way) => {
      const scene = await assetsOn(await startPlatform(null))
      const acts = await actsOn(scene, way)
      const [user, other] = [scene.funded(), scene.funded()]
      const made = await scene.built('POST', '/v2/collections', {
        payer: addressOf(user),
        name: 'C',
        uri: 'https://example.com/c.json',
      })
      await scene.submit(made, [user])
      await acts.settle(1)
      const { instructions, context, signer, key } = await loadCore()
      const asset = Keypair.generate()
      const own = {
        collection: key(made.collection),
        payer: signer(addressOf(user)),
        authority: signer(addressOf(user)),
      }
      const plugin = { type: 'FreezeDelegate', frozen: true } as const
      const at = key(addressOf(asset))
      await acts.send(
        acts.sign(
          instructions(
            create(context, {
              ...own,
              asset: signer(addressOf(asset)),
              collection: { publicKey: key(made.collection) },
              name: 'A',
              uri: 'https://example.com/a.json',
            }),
          ),
          [user, asset],
        ),
      )
      const steps = [
        addPlugin(context, { ...own, asset: at, plugin: { ...plugin, authority: { type: 'Owner' } } }),
        updatePlugin(context, { ...own, asset: at, plugin: { type: 'FreezeDelegate', frozen: false } }),
        transferV1(context, { ...own, asset: at, newOwner: key(addressOf(other)) }),
      ]
      for (const step of steps) await acts.send(acts.sign(instructions(step), [user]))
      const byOther = { ...own, payer: signer(addressOf(other)), authority: signer(addressOf(other)) }
      const burning = burn(context, {
        ...byOther,
        asset: { publicKey: at },
        collection: { publicKey: key(made.collection) },
      } as never)
      await acts.send(acts.sign(instructions(burning), [other]))
      await acts.settle()
      const { json } = await acts.request('GET', `/v2/nfts/${addressOf(asset)}`)
      const names = {
        [addressOf(user)]: 'USER',
        [addressOf(other)]: 'OTHER',
        [addressOf(asset)]: 'ASSET',
        [made.collection]: 'COLLECTION',
      }
      expect(json.data.status).toBe('burned')
      return comparable(await acts.events(), names)
    })
    expect(typesOf(past)).toEqual([
      'nft.burned',
      'nft.created',
      'nft.staked',
      'nft.unstaked',
      'stake.acquired',
      'stake.released',
    ])
  })
})
