/** Lets another wallet claim the fees of positions for their owner, and takes that back. */

import {
  CLAIM_ANYWHERE,
  CLAIM_TO_OWNER,
  DELEGATE_PERMISSIONS,
  type DelegatePermission,
} from '../../../solana/position-permissions.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { DammV2Position } from './positions.ts'

/** Compute limit for one position if the transaction cannot be simulated. */
export const POSITION_DELEGATION_UNITS = 50_000

type Delegated = Pick<DammV2Position, 'delegate' | 'delegatedAmount' | 'permissions'>

/** Returns what a position's delegate may do, in the order of the program. */
export const permissionsOf = ({ permissions }: Pick<Delegated, 'permissions'>): DelegatePermission[] =>
  DELEGATE_PERMISSIONS.filter((_, bit) => (permissions & (1 << bit)) !== 0)

/** Returns the wallet that may claim for the owner, or null. The program refuses a delegate that could take the NFT. */
export const claimDelegateOf = ({ delegate, delegatedAmount, permissions }: Delegated): string | null =>
  delegatedAmount === 0n && (permissions & (CLAIM_TO_OWNER | CLAIM_ANYWHERE)) !== 0 ? delegate : null

/** Whether the wallet may claim for the owner, and nothing else. */
export const isClaimDelegateOnly = (position: Delegated, wallet: string): boolean =>
  claimDelegateOf(position) === wallet && position.permissions === CLAIM_TO_OWNER

interface PositionDelegation extends Envelope {
  /** Address that holds the position NFTs and signs. */
  owner: string
  /** Address that may claim for the owner from now on; null takes every permission back. */
  delegate: string | null
  positions: readonly Pick<DammV2Position, 'position' | 'positionNftAccount'>[]
}

/**
 * Sets the delegate of each position, and its permission to claim into the owner's accounts as the only one. The
 * program takes the delegate of the NFT's token account, with the amount 0, so it cannot move the NFT.
 */
export async function buildPositionDelegation({
  owner,
  delegate,
  positions,
  ...envelope
}: PositionDelegation): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl, sdk] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    sdkInstructions(),
  ])
  const [ownerKey, program] = [new PublicKey(owner), spl.TOKEN_2022_PROGRAM_ID]
  const permission = delegate === null ? 0 : CLAIM_TO_OWNER
  const instructions = positions.flatMap(({ position, positionNftAccount }) => {
    const account = new PublicKey(positionNftAccount)
    const roles = { position, position_nft_account: positionNftAccount, owner }
    return [
      delegate === null
        ? spl.createRevokeInstruction(account, ownerKey, [], program)
        : spl.createApproveInstruction(account, new PublicKey(delegate), ownerKey, 0, [], program),
      sdk(DAMM_V2.instruction('update_delegate_permission', roles, { permission })),
    ]
  })
  return compileUnsigned(envelope, instructions)
}
