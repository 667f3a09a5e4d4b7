/** Storage of NFTs. */

import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import { moving } from './asset-records.ts'

export const insertNft = insertingOnce('nfts')
export const findNft = finding('nfts', 'asset')
export const updateNft = updating('nfts', 'asset')
export const moveNft = moving('nfts')
export const pageNfts = listing('nfts', ['owner', 'collection'], { weights: { name: 1, uri: 1, metadata_json: 1 } })
