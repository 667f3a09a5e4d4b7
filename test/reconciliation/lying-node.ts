/** A service whose node lies: alone, or also to those who ask several nodes. */
import { create, transferV1 } from '@metaplex-foundation/mpl-core'
import { Keypair } from '@solana/web3.js'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { accountsAfter } from '../../src/store/following/followed-accounts.ts'
import { addressOf, assetsOn, eventsOf } from '../support/assets.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { actsOn, chainTransactionOf } from './acts.ts'

export type Lie = (method: string, params: readonly unknown[], answer: unknown) => unknown

/** A service with a collection that it follows, whose node tells lies. */
export async function onLyingNode() {
  const lying = { call: ((_, __, answer) => answer) as Lie, witnesses: ((_, __, answer) => answer) as Lie, calls: 0 }
  const scene = await assetsOn(await startPlatform(null))
  const node = scene.services.chain
  const lied =
    (to: 'call' | 'witnesses') =>
    async <T>(method: string, params: readonly unknown[]): Promise<T> => {
      lying.calls++
      const answer = lying[to](method, params, await node.call(method, params))
      if (answer instanceof Error) throw answer
      return answer as T
    }
  const chain = {
    ...node,
    call: lied('call'),
    witnesses: async <T>(read: (of: { call: typeof node.call }) => Promise<T>) => [
      await read({ call: lied('witnesses') }),
    ],
  }
  const acts = await actsOn(scene, 'past')
  const services = { ...scene.services, chain }
  const user = scene.funded(1_000n * 1_000_000_000n)
  const made = await scene.built('POST', '/v2/collections', {
    payer: addressOf(user),
    name: 'C',
    uri: 'https://example.com/c.json',
  })
  await scene.submit(made, [user])
  await acts.settle(1)
  acts.pass(60)
  const { instructions, context, signer, key } = await loadCore()
  const mint = () => {
    const asset = Keypair.generate()
    const minting = create(context, {
      asset: signer(addressOf(asset)),
      collection: { publicKey: key(made.collection as string) },
      payer: signer(addressOf(user)),
      authority: signer(addressOf(user)),
      name: 'A',
      uri: 'https://example.com/a.json',
    })
    const bytes = acts.sign(instructions(minting), [user, asset])
    acts.past(bytes)
    acts.pass(1)
    return { asset: addressOf(asset), signature: decodeWireTransaction(bytes).signature }
  }
  const transfer = ({ asset }: { asset: string }) => {
    const own = { collection: key(made.collection as string), payer: signer(addressOf(user)) }
    const newOwner = key(addressOf(Keypair.generate()))
    const moving = transferV1(context, { ...own, authority: own.payer, asset: key(asset), newOwner })
    const bytes = acts.sign(instructions(moving), [user])
    acts.past(bytes)
    acts.pass(1)
    return { signature: decodeWireTransaction(bytes).signature }
  }
  const genesis = await node.genesisHash()
  return {
    ...scene,
    acts,
    lying,
    services,
    mint,
    transfer,
    genesis,
    collection: made.collection as string,
    accountOf: async (address: string) =>
      (await accountsAfter(services.store.db, { genesis, after: 0, limit: 100 })).find(
        (each) => each.address === address,
      )!,
    told: async ({ asset }: { asset: string }) => (await eventsOf(scene, asset)).map(({ type }) => type),
    stateOf: ({ signature }: { signature: string }) => chainTransactionOf(services.store.db, signature),
    /** Rounds of so many seconds. */
    async rounds(seconds: number, count = 1) {
      for (let n = 0; n < count; n++) {
        acts.pass(seconds)
        await reconcileRecords(services)
      }
    },
  }
}

/** Lies about one transaction. */
export const about = (signature: string, lie: (answer: unknown) => unknown): Lie => {
  return (method, [first], answer) => (method === 'getTransaction' && first === signature ? lie(answer) : answer)
}
