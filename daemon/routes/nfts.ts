/** NFTs: one line per verb. */
import { api } from '../../src/api/index.ts'
import { listNfts } from '../../src/operations/nfts/list-nfts.ts'
import { type Mount, notYet } from '../mount.ts'

export function nftsRoutes(mount: Mount): void {
  mount(api.nfts.create, notYet('Minting an NFT'))
  mount(api.nfts.burn, notYet('Burning an NFT'))
  mount(api.nfts.list, listNfts)
  mount(api.nfts.get, notYet('Reading an NFT from the chain'))
}
