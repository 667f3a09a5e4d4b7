/** Jito's merkle distributor: airdrops by merkle root, their claims and their clawback. */
export { type AirdropKey, claimStatusAddress, distributorAddress, tokenAccountAddress } from './addresses.ts'
export { creationStartOf, type DistributorChange, distributorChangesIn } from './changes.ts'
export {
  AIRDROP_CLAIM_UNITS,
  buildAirdropClaim,
  type DistributorClaim,
  type DistributorLeaf,
  hasRoomForVested,
  MOST_SIBLINGS,
  MOST_V1_SIBLINGS,
  requireRoomForProof,
} from './claim.ts'
export { buildClawback, CLAWBACK_UNITS, type Clawback } from './clawback.ts'
export { buildCreation, CREATION_UNITS, type Creation } from './creation.ts'
export { buildSponsoredClaim, claimRents, type SponsoredDistributorClaim } from './sponsored-claim.ts'
export {
  type ClaimStatus,
  type Distributor,
  decodeClaimStatus,
  decodeDistributor,
  readDistributors,
} from './state.ts'
