/** What the platform wallet can be asked to sign and a policy can let wait, in a file that loads nothing else. */
export const SIGNED_OPERATIONS = [
  'airdrop.create',
  'airdrop.withdraw',
  'fee_claim.create',
  'fee_claim.delegate',
  'lock.cancel',
  'lock.change_recipient',
  'lock.claim',
  'lock.close',
  'lock.create',
  'lock.entitle',
  'pool.create',
  'position.add',
  'position.close',
  'position.lock',
  'position.open',
  'position.remove',
  'position.vest',
  'proposal.approve',
  'proposal.cancel',
  'proposal.execute',
  'proposal.reclaim',
  'proposal.reject',
  'rent_reclaim.create',
  'signer.test',
  'token.burn',
  'token.close',
  'token.freeze',
  'token.harvest',
  'token.mint',
  'token.pause',
  'token.resume',
  'token.thaw',
  'token.update',
  'token.update_extensions',
  'token.withdraw_withheld',
  'token_authority.transfer',
  'token_transfer.create',
] as const
export type SignedOperation = (typeof SIGNED_OPERATIONS)[number]

/**
 * What else it signs: a claim that it pays for another wallet, workers' steps, and proposals to a multisig, which waits
 * itself. A rule that would let one of these wait refuses it.
 */
export type UnwaitingOperation = 'airdrop.sponsored_claim' | 'pool.create_locker' | 'pool.migrate' | 'proposal.create'
