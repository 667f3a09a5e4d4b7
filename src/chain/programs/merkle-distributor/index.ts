/** Jito's merkle distributor: airdrops by merkle root, their claims and their clawback. */
export { type AirdropKey, claimStatusAddress, distributorAddress, tokenAccountAddress } from './addresses.ts'
export {
  AIRDROP_CLAIM_UNITS,
  buildAirdropClaim,
  buildClawback,
  buildCreation,
  buildSponsoredClaim,
  CLAWBACK_UNITS,
  type Clawback,
  CREATION_UNITS,
  type Creation,
  claimRents,
  type DistributorClaim,
  type DistributorLeaf,
  hasRoomForVested,
  MOST_SIBLINGS,
  MOST_V1_SIBLINGS,
  requireRoomForProof,
  type SponsoredDistributorClaim,
} from './building.ts'
export { type DistributorChange, distributorChangesIn } from './changes.ts'
export {
  type ClaimStatus,
  type Distributor,
  decodeClaimStatus,
  decodeDistributor,
  readDistributors,
} from './state.ts'
