/** Locks a new pool's position permanently, and gives the platform its part of it. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { poolKey, positionKeys } from './addresses.ts'
import { dammV2Instruction, loadSdk } from './program.ts'

/** The platform's part of the one position that a launch makes. */
export interface PlatformShare {
  wallet: string
  /** Address of a fresh key that signs beside that of the position. */
  positionNft: string
  /** Whole percent, from 1 to 99. */
  percentage: number
}

interface OpenedPosition {
  creator: PublicKey
  mint: string
  positionNft: string
}

/** The denominator of a split. */
const WHOLE_SHARE = 1_000_000_000

/** The fees remain claimable, but the liquidity can never be withdrawn. */
export async function lockPosition({ creator, mint, positionNft }: OpenedPosition, liquidity: bigint) {
  const { toBn } = await loadSdk()
  return dammV2Instruction('permanentLockPosition', [toBn(liquidity)], {
    ...(await positionOf(positionNft)),
    pool: await poolKey(mint),
    signer: creator,
  })
}

/**
 * Opens a second position, first owned by the creator because a split requires both owners to sign, then transfers the
 * token account of its NFT. Throws bad_request for a percentage that leaves one of them nothing.
 */
export async function givePlatformShare(
  { creator, mint, positionNft }: OpenedPosition,
  { wallet, positionNft: second, percentage }: PlatformShare,
): Promise<TransactionInstruction[]> {
  if (!Number.isInteger(percentage) || percentage < 1 || percentage > 99) {
    throw badRequest('platform_position_percentage must be a whole number from 1 to 99', {
      param: 'platform_position_percentage',
    })
  }
  const [{ PublicKey, SystemProgram }, spl] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
  ])
  const [pool, own, platformPosition] = await Promise.all([poolKey(mint), positionOf(positionNft), positionOf(second)])
  const { AccountOwner } = spl.AuthorityType
  return [
    await dammV2Instruction('createPosition', [], {
      ...platformPosition,
      owner: creator,
      positionNftMint: new PublicKey(second),
      pool,
      payer: creator,
      tokenProgram: spl.TOKEN_2022_PROGRAM_ID,
      systemProgram: SystemProgram.programId,
    }),
    await dammV2Instruction('splitPosition2', [(WHOLE_SHARE / 100) * percentage], {
      pool,
      firstPosition: own.position,
      firstPositionNftAccount: own.positionNftAccount,
      secondPosition: platformPosition.position,
      secondPositionNftAccount: platformPosition.positionNftAccount,
      firstOwner: creator,
      secondOwner: creator,
    }),
    spl.createSetAuthorityInstruction(
      platformPosition.positionNftAccount,
      creator,
      AccountOwner,
      new PublicKey(wallet),
      [],
      spl.TOKEN_2022_PROGRAM_ID,
    ),
  ]
}

async function positionOf(nft: string) {
  const { PublicKey } = await import('@solana/web3.js')
  return positionKeys(new PublicKey(nft))
}
