/** What the delegate of a position in DAMM v2 may do, in the order of the program's bits (`PositionDelegatePermission`). */
export const DELEGATE_PERMISSIONS = [
  'add_liquidity',
  'remove_liquidity',
  'remove_liquidity_to_owner',
  'claim_fees',
  'claim_fees_to_owner',
  'claim_rewards',
  'claim_rewards_to_owner',
  'lock_position',
] as const
export type DelegatePermission = (typeof DELEGATE_PERMISSIONS)[number]

const bitOf = (permission: DelegatePermission): number => 1 << DELEGATE_PERMISSIONS.indexOf(permission)

/** The only permission that svc grants: claims pay the owner's own token accounts. */
export const CLAIM_TO_OWNER = bitOf('claim_fees_to_owner')
export const CLAIM_ANYWHERE = bitOf('claim_fees')
