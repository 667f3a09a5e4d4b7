/** Airdrops: the stored merkle trees seen through their life on chain. */
import { finding, listing, updating } from './records.ts'

export const findAirdrop = finding('merkle_trees', 'id')
export const updateAirdrop = updating('merkle_trees', 'id')
export const pageAirdrops = listing('merkle_trees', ['mint'])
