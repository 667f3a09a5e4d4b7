/** What the platform wallet does past the service before its record exists is reported once the record exists. */
import { create } from '@metaplex-foundation/mpl-core'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { hashLeaf, toHex } from '../../src/merkle/tree.ts'
import { treeIdOf } from '../../src/operations/merkle-trees/open-tree.ts'
import { addressOf, airdropsOn, claimBody, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { assetsOn, eventsOf, lacksCore } from '../support/assets.ts'
import { createMint, DAY, give, lacksLock } from '../support/gold.ts'
import { buildGoldLock, buildGoldUnlock } from '../support/lock-builds.ts'
import { keypairFile, startPlatform } from '../support/platform-wallet.ts'
import { openService, type Service, temporaryFolder } from '../support/service.ts'
import { actsOn } from './acts.ts'

const CLEAN = { missing: [], extra: [], faults: [], unread: [] }

/** What the comparisons of events and of the ledger with the chain name. */
async function verified({ request }: Pick<Service, 'request'>) {
  const found = { missing: [] as object[], extra: [] as object[], faults: [] as object[], unread: [] as object[] }
  for (const path of ['event-verification?since=0&until=99999999999&', 'ledger/verification?']) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, json, text } = await request('GET', `/v2/${path}${cursor && `cursor=${cursor}`}`)
      expect(status, text).toBe(200)
      for (const name of ['missing', 'extra', 'faults', 'unread'] as const) found[name].push(...(json.data[name] ?? []))
      cursor = json.data.next_cursor
    }
  }
  return found
}

/** The platform wallet is followed already, because there is a record of something else. */
async function scene(dataDir = temporaryFolder()) {
  const { wallet: platform, ...service } = await startPlatform(null, { dataDir })
  const acts = await actsOn(await airdropsOn(service), 'past')
  await acts.storeTree(acts.mintFor(acts.wallet(), 1n), entriesFor([acts.wallet()]))
  await acts.settle(1)
  return { ...acts, platform }
}

const instructionsOf = (bytes: Uint8Array) =>
  TransactionMessage.decompile(VersionedTransaction.deserialize(bytes).message).instructions

describe.skipIf(lacksDistributor)('an airdrop (needs the Jito merkle distributor)', () => {
  it('whose list is stored after the platform wallet has claimed has that claim and its events, once', async () => {
    const acts = await scene()
    const { platform, ok, wallet, mintFor, land } = acts
    const payer = wallet()
    const mint = mintFor(payer, 1_000_000n)
    const [entry] = entriesFor([platform])
    const root = rootOf(platform, BigInt(entry!.amount))
    const made = await ok('POST', '/v2/airdrops', createBody(payer, mint, root, { fund_amount: '10000' }))
    land(made.transaction, payer)
    const id = treeIdOf(mint, 0)
    const claim = claimBody(platform, { amount: entry!.amount, proof: [] })
    const { signature } = land((await ok('POST', `/v2/airdrops/${id}/claims`, claim)).transaction, platform)
    await acts.settle(3)
    expect(await acts.eventsOf(id)).toEqual([])
    expect((await acts.storeTree(mint, [entry!])).root).toBe(root)
    await acts.settle(6)
    expect((await acts.eventsOf(id)).sort()).toEqual([
      'airdrop.claim_started',
      'airdrop.claimed',
      'airdrop.fully_claimed',
      'airdrop.initialized',
      'airdrop.tree_built',
    ])
    expect(await ok('GET', `/v2/airdrops/${id}/claims`)).toMatchObject([{ wallet: addressOf(platform), signature }])
    expect(await verified(acts)).toEqual(CLEAN)
  })
})

/** The root of a list of one wallet. */
function rootOf(wallet: Keypair, amount: bigint): string {
  const bytes = Buffer.alloc(40)
  bytes.set(wallet.publicKey.toBytes())
  bytes.writeBigUInt64LE(amount, 32)
  const root = Buffer.alloc(32)
  hashLeaf({ bytes } as never, 0, root, 0)
  return toHex(root)
}

describe.skipIf(lacksCore)('a collection (needs Metaplex Core)', () => {
  it('that is followed after the platform wallet has minted into it has those assets and events, once', async () => {
    const acts = await scene()
    const { platform } = acts
    const assets = await assetsOn(acts)
    const collection = await assets.collection(platform)
    const { instructions, context, signer, key } = await loadCore()
    const asset = Keypair.generate()
    const minting = create(context, {
      ...{ asset: signer(addressOf(asset)), collection: { publicKey: key(collection) } },
      ...{ payer: signer(addressOf(platform)), authority: signer(addressOf(platform)) },
      ...{ name: 'A', uri: 'https://example.com/a.json' },
    })
    acts.past(acts.sign(instructions(minting), [platform, asset]))
    await acts.settle(3)
    expect(await eventsOf(acts, addressOf(asset))).toEqual([])
    const through = await assets.built('POST', '/v2/nfts', {
      ...{ payer: addressOf(platform), platform_id: 'acme', collection, name: 'B' },
      uri: 'https://example.com/b.json',
    })
    await assets.submit(through, [platform])
    await acts.settle(6)
    for (const each of [addressOf(asset), through.asset])
      expect((await eventsOf(acts, each)).map(({ type }) => type)).toEqual(['nft.created'])
    expect(await verified(acts)).toEqual(CLEAN)
  })
})

describe.skipIf(lacksLock !== '')(`gold ${lacksLock}`, () => {
  it('that the platform wallet locks and unlocks before its mint is configured has its lock and events, once', async () => {
    const dataDir = temporaryFolder()
    const before = await scene(dataDir)
    const { platform, chain } = before
    const gold = createMint(chain, platform)
    give(chain, platform, gold, platform.publicKey, 1_000n)
    const common = () => ({
      ...{ payer: addressOf(platform), mint: gold.mint.toBase58(), tokenProgram: 'spl' as const, memo: 'acme' },
      recentBlockhash: chain.latestBlockhash().blockhash,
    })
    const now = chain.unixTimestamp()
    const unlocksAt = Math.ceil(now / DAY) * DAY + DAY
    const locking = await buildGoldLock({ ...common(), amount: 400n, startsAt: now, unlocksAt })
    before.past(before.sign(instructionsOf(locking.transaction), [platform]))
    before.pass(2 * DAY)
    const unlocking = await buildGoldUnlock({ ...common(), amount: 400n })
    before.past(before.sign(instructionsOf(unlocking.transaction), [platform]))
    await before.settle(3)
    const { clock } = before
    await before.close()
    const settings = { signer: 'keypair', 'signer.keypair': keypairFile(temporaryFolder(), platform) } as const
    const mint = new PublicKey(gold.mint).toBase58()
    const after = await openService({ dataDir, clock, settings: { ...settings, 'gold.mint': mint } })
    const acts = await actsOn(after, 'past')
    await acts.settle(6)
    const events = (await acts.events()).filter(({ type }) => type.startsWith('gold.'))
    expect(events.map(({ type }) => type)).toEqual(['gold.locked', 'gold.unlock_eligible', 'gold.unlocked'])
    expect((await after.request('GET', '/v2/gold-locks')).json.data).toMatchObject([{ status: 'unlocked' }])
    expect(await verified(after)).toEqual(CLEAN)
    await after.close()
  })
})
