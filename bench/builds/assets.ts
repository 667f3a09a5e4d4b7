/** Collections, assets and stakes beside mpl-core over umi; memos by hand. */
import {
  addPlugin,
  burn,
  create,
  createCollection,
  fetchAsset,
  fetchCollection,
  removePlugin,
  updatePlugin,
} from '@metaplex-foundation/mpl-core'
import { createNoopSigner, publicKey as keyOf, signerIdentity, type TransactionBuilder } from '@metaplex-foundation/umi'
import { createUmi } from '@metaplex-foundation/umi-bundle-defaults'
import { toWeb3JsInstruction } from '@metaplex-foundation/umi-web3js-adapters'
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { createCollection as createCollectionOf } from '../../src/operations/collections/create-collection.ts'
import { burnNft } from '../../src/operations/nfts/burn-nft.ts'
import { createNft } from '../../src/operations/nfts/create-nft.ts'
import { createStake } from '../../src/operations/stakes/create-stake.ts'
import { releaseStake } from '../../src/operations/stakes/release-stake.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import type { BuildKind, SdkPart } from './floor.ts'
import { type Stage, UNSIGNED } from './stage.ts'

const TEXTS = { name: 'Bench Asset', uri: 'https://example.com/asset.json', allow_programs: false }
const PLATFORM = 'bench'
const CORE_SDK = 'mpl-core'

export async function assetKinds(stage: Stage): Promise<BuildKind[]> {
  const { context, real, user } = stage
  const payer = user.publicKey.toBase58()
  const made = await createCollectionOf(real, { ...UNSIGNED, ...TEXTS, payer })
  stage.land(made.transaction)
  const { collection } = made
  const mint = { ...UNSIGNED, ...TEXTS, payer, platform_id: PLATFORM, collection }
  const landed = async () => {
    const { asset, transaction } = await createNft(real, mint)
    stage.land(transaction)
    return asset
  }
  const [free, staked, fresh] = [await landed(), await landed(), Keypair.generate().publicKey.toBase58()]
  const stakeOf = (asset: string) => ({
    ...UNSIGNED,
    user: payer,
    platform_id: PLATFORM,
    asset,
    collection,
    platform_fee: 0,
  })
  stage.land((await createStake(real, stakeOf(staked))).transaction)
  const sdk = sdkCalls(stage, collection)
  const kind = (name: string, build: BuildKind['build'], call: BuildKind['call']) => ({
    name,
    sdk: CORE_SDK,
    hasTrial: true,
    build,
    call,
  })
  return [
    kind('collection', () => createCollectionOf(context, { ...UNSIGNED, ...TEXTS, payer }), sdk.collection),
    kind(
      'asset',
      () => createNft(context, { ...mint, asset: fresh }),
      () => sdk.asset(fresh),
    ),
    kind(
      'burn of an asset',
      () => burnNft(context, { ...UNSIGNED, asset: free, owner: payer, platform_id: PLATFORM, collection }),
      () => sdk.burn(free),
    ),
    kind(
      'stake',
      () => createStake(context, stakeOf(free)),
      () => sdk.stake(free),
    ),
    kind(
      'release of a stake',
      () => releaseStake(context, stakeOf(staked)),
      () => sdk.release(staked),
    ),
  ]
}

function sdkCalls({ connection, user }: Stage, collectionAddress: string) {
  const owner = createNoopSigner(keyOf(user.publicKey.toBase58()))
  const umi = createUmi(connection).use(signerIdentity(owner))
  const collection = keyOf(collectionAddress)
  const parts = (builders: TransactionBuilder[], more: TransactionInstruction[] = []): SdkPart[] => [
    {
      payer: user.publicKey,
      instructions: [...builders.flatMap((builder) => builder.getInstructions().map(toWeb3JsInstruction)), ...more],
    },
  ]
  const memo = (text: string) =>
    new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: [{ pubkey: user.publicKey, isSigner: true, isWritable: false }],
      data: Buffer.from(text),
    })
  const fetched = (asset: string) => Promise.all([fetchAsset(umi, keyOf(asset)), fetchCollection(umi, collection)])
  return {
    collection: async () =>
      parts([
        createCollection(umi, {
          ...TEXTS,
          collection: createNoopSigner(keyOf(Keypair.generate().publicKey.toBase58())),
        }),
      ]),
    asset: async (asset: string) =>
      parts([
        create(umi, {
          ...TEXTS,
          asset: createNoopSigner(keyOf(asset)),
          collection: await fetchCollection(umi, collection),
        }),
      ]),
    async burn(address: string) {
      const [asset, its] = await fetched(address)
      return parts([burn(umi, { asset, collection: its })])
    },
    async stake(address: string) {
      const [asset] = await fetched(address)
      const plugin = { type: 'FreezeDelegate', frozen: true, authority: { type: 'Owner' } } as const
      return parts([addPlugin(umi, { asset: asset.publicKey, collection, plugin })], [memo(`stake ${address}`)])
    },
    async release(address: string) {
      const [asset] = await fetched(address)
      const own = { asset: asset.publicKey, collection }
      return parts(
        [
          updatePlugin(umi, { ...own, plugin: { type: 'FreezeDelegate', frozen: false } }),
          removePlugin(umi, { ...own, plugin: { type: 'FreezeDelegate' } }),
        ],
        [memo(`release ${address}`)],
      )
    },
  }
}
