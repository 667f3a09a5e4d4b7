/**
 * Tells the delegate of a position in DAMM v2 that may only claim fees for the owner from one that may do more. The
 * program takes the delegate of the NFT's token account, and what it may do is in the position.
 */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressOf } from '../../solana/addresses.ts'
import { CLAIM_TO_OWNER } from '../../solana/position-permissions.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { TokenAccountState } from '../../solana/token-accounts.ts'
import type { TouchedAccount, TouchedAccounts } from './touched-accounts.ts'

/** First bytes of a position, the offset of its NFT's mint, and that of what a delegate may do. */
const POSITION_DISCRIMINATOR = Buffer.from('aabc8fe47a40f7d0', 'hex')
const [NFT_MINT_OFFSET, PERMISSIONS_OFFSET] = [40, 392]

/**
 * Whether the delegate of a token account can only claim fees into the owner's accounts: it may take no units, and the
 * transaction writes to the NFT's position, which permits nothing else.
 */
export function isClaimDelegate({ mint, delegatedAmount }: TokenAccountState, accounts: TouchedAccounts): boolean {
  if (delegatedAmount !== 0n) return false
  return [...accounts.values()].some(({ after: { account } }) => {
    const position = positionIn(account)
    return position?.nftMint === mint && (position.permissions & ~CLAIM_TO_OWNER) === 0
  })
}

/** Whether a position permits its delegate more than before, other than to claim fees for the owner. */
export function permitsMore({ before, after }: TouchedAccount): boolean {
  const [old, now] = [positionIn(before.account)?.permissions ?? 0, positionIn(after.account)?.permissions ?? 0]
  return (now & ~old & ~CLAIM_TO_OWNER) !== 0
}

function positionIn(account: ChainAccount | null): { nftMint: string; permissions: number } | null {
  if (account?.owner !== PROGRAMS.dammV2.id || account.data.length < PERMISSIONS_OFFSET + 4) return null
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  if (!data.subarray(0, POSITION_DISCRIMINATOR.length).equals(POSITION_DISCRIMINATOR)) return null
  return {
    nftMint: addressOf(data.subarray(NFT_MINT_OFFSET, NFT_MINT_OFFSET + 32)),
    permissions: data.readUInt32LE(PERMISSIONS_OFFSET),
  }
}
