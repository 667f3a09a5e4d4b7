/**
 * What the platform wallet can be asked to sign, with approvals if its policy demands them, as the beginning of a
 * sentence. The file loads nothing else.
 */
export const ACTS = {
  'airdrop.create': 'Create an airdrop',
  'airdrop.withdraw': 'Withdraw what is left of an airdrop',
  'fee_claim.create': 'Claim fees of a pool',
  'fee_claim.delegate': 'Change the delegate of fees',
  'lock.cancel': 'Cancel a lock',
  'lock.change_recipient': 'Change the recipient of a lock',
  'lock.claim': 'Claim from a lock',
  'lock.close': 'Close a lock',
  'lock.create': 'Lock tokens',
  'lock.entitle': 'Give a lock its title',
  'pool.create': 'Launch a token',
  'position.add': 'Add liquidity to a position',
  'position.close': 'Close an empty position',
  'position.lock': 'Lock liquidity of a position for good',
  'position.open': 'Open a position',
  'position.remove': 'Withdraw liquidity of a position',
  'position.vest': 'Vest liquidity of a position',
  'proposal.approve': 'Approve a proposal of a multisig',
  'proposal.cancel': 'Cancel a proposal of a multisig',
  'proposal.execute': 'Execute a proposal of a multisig',
  'proposal.reclaim': 'Reclaim the rent of a proposal of a multisig',
  'proposal.reject': 'Reject a proposal of a multisig',
  'raise.create': 'Create a raise',
  'raise.open': 'Open a raise to its allowlist',
  'raise.settle': 'Settle a raise',
  'rent_reclaim.create': 'Reclaim rent',
  'signer.test': 'Submit a memo',
  'token.burn': 'Burn tokens',
  'token.close': 'Close the mint of a token',
  'token.freeze': 'Freeze accounts of a token',
  'token.harvest': 'Move withheld transfer fees into the mint of a token',
  'token.mint': 'Mint tokens',
  'token.pause': 'Pause a token',
  'token.resume': 'Resume a paused token',
  'token.thaw': 'Thaw accounts of a token',
  'token.update': 'Change the metadata of a token',
  'token.update_extensions': 'Change the settings of extensions of a token',
  'token.withdraw_withheld': 'Withdraw transfer fees of a token',
  'token_authority.transfer': 'Give away an authority of a token',
  'token_transfer.create': 'Send tokens',
} as const
export type SignedOperation = keyof typeof ACTS
export const SIGNED_OPERATIONS = Object.keys(ACTS) as SignedOperation[]

/**
 * What else it signs: a claim that it pays for another wallet, workers' steps, and proposals to a multisig, which waits
 * itself. A rule that demands approvals for one of these refuses it.
 */
export type UnwaitingOperation = 'airdrop.sponsored_claim' | 'pool.create_locker' | 'pool.migrate' | 'proposal.create'
