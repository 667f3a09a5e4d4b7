/** NFTs are minted from a CSV into a collection, one is staked, released and burned: each state from the chain. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOnChain } from './on-chain.ts'
import type { Options } from './program.ts'

const COUNT = 4

export async function nft({ dataDir, daemon, report }: Options): Promise<void> {
  const chain = createOnChain({ dataDir, daemon, report })
  if (!(await chain.has('NFTs and stakes', ['Metaplex Core']))) return
  const key = ['-k', chain.file('artist'), '--yes']
  const { address } = await daemon.svc('localnet', 'wallet', chain.file('artist'), '5')
  let [collection, asset] = ['', '']

  await report.step(`a collection is made, and ${COUNT} NFTs are minted into it from a CSV, each once`, async () => {
    const texts = ['--name', 'Demo Genesis', '--uri', 'https://example.com/genesis.json']
    collection = (await daemon.svc('collections', 'create', ...texts, ...key)).collection
    const list = join(dataDir, 'nfts.csv')
    const rows = Array.from({ length: COUNT }, (_, i) => `Genesis #${i + 1},https://example.com/${i + 1}.json`)
    writeFileSync(list, ['name,uri', ...rows, ''].join('\n'))
    const mint = ['nfts', 'mint', '--collection', collection, '--from', list, ...key]
    await daemon.svc(...mint)
    await daemon.svc(...mint)
    const minted = (await daemon.svc('nfts', 'list', '--collection', collection)) as { asset: string; owner: string }[]
    report.expect(minted.length === COUNT, `${minted.length} after two runs of the same command`)
    report.expect(
      minted.every(({ owner }) => owner === address),
      'all are the artist’s',
    )
    asset = minted.at(-1)!.asset
    return `${minted.length} in ${collection}`
  })
  await report.step('one is staked: frozen in its wallet, not to be burned, until it is released', async () => {
    await daemon.svc('stakes', 'create', asset, ...key)
    const staked = await daemon.svc('nfts', 'get', asset)
    report.expect(staked.frozen === true && staked.owner === address, 'frozen, and still its owner’s')
    const refused = await daemon.svc('nfts', 'burn', asset, ...key).catch(String)
    report.expect(/staked|frozen/.test(refused), 'burning it is refused')
    const { staked_assets } = await daemon.svc('stakes', 'lookup', address)
    report.expect(staked_assets.length === 1 && staked_assets[0].asset === asset, 'the wallet’s stakes are listed')
    await daemon.svc('stakes', 'release', asset, ...key)
    const { status } = await daemon.svc('stakes', 'get', asset)
    report.expect(status === 'unstaked', status)
    return asset
  })
  await report.step('it is burned, and events report every step', async () => {
    await daemon.svc('nfts', 'burn', asset, ...key)
    const { status, owner } = await daemon.svc('nfts', 'get', asset)
    report.expect(status === 'burned' && owner === null, status)
    const told = (await chain.eventsAbout([asset], '')).filter((type) => /^(nft|stake)\./.test(type))
    const life = ['nft.created', 'stake.acquired', 'nft.staked', 'stake.released', 'nft.unstaked', 'nft.burned']
    report.expect(told.join() === life.join(), told.join(', '))
    return told.join(', ')
  })
}
