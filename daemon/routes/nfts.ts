/** Mounts the routes of NFTs, one line per verb. */
import { api } from '../../src/api/index.ts'
import { burnNft } from '../../src/operations/nfts/burn-nft.ts'
import { createNft } from '../../src/operations/nfts/create-nft.ts'
import { getNft } from '../../src/operations/nfts/get-nft.ts'
import { listNfts } from '../../src/operations/nfts/list-nfts.ts'
import type { Mount } from '../mount.ts'

export function nftsRoutes(mount: Mount): void {
  mount(api.nfts.create, createNft)
  mount(api.nfts.burn, burnNft)
  mount.stored(api.nfts.list, listNfts)
  mount(api.nfts.get, getNft)
}
