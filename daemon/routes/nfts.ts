/** Mounts the routes of NFTs, one line per verb. */
import { nfts } from '../../src/api/nfts.ts'
import { burnNft, createNft, getNft, listNfts } from '../../src/operations/nfts.ts'
import type { Mount } from '../mount.ts'

export function nftsRoutes(mount: Mount): void {
  mount(nfts.create, createNft)
  mount(nfts.burn, burnNft)
  mount.stored(nfts.list, listNfts)
  mount(nfts.get, getNft)
}
