/** Mounts the routes of NFTs, one line per verb. */
import { nfts } from '../../src/api/nfts.ts'
import { burnNft } from '../../src/operations/nfts/burn-nft.ts'
import { createNft } from '../../src/operations/nfts/create-nft.ts'
import { getNft } from '../../src/operations/nfts/get-nft.ts'
import { listNfts } from '../../src/operations/nfts/list-nfts.ts'
import type { Mount } from '../mount.ts'

export function nftsRoutes(mount: Mount): void {
  mount(nfts.create, createNft)
  mount(nfts.burn, burnNft)
  mount.stored(nfts.list, listNfts)
  mount(nfts.get, getNft)
}
