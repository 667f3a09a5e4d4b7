/** Finds positions whose NFT is in a burn address: nobody can sign for it, so nobody can ever withdraw their liquidity. */
import { BURN_ADDRESSES, isBurntNft } from '../../../solana/burnt-nfts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { accountsAt } from '../../sending/runs.ts'
import { openDeriver } from '../derived-addresses.ts'
import { positionAddresses } from './addresses.ts'

export interface BurntPosition {
  position: string
  nftMint: string
  /** The token account with the NFT, whose owner is a burn address. */
  nftAccount: string
}

/** An NFT's mint, the account it was minted into, and the associated one of each burn address. */
const ACCOUNTS_EACH = 2 + BURN_ADDRESSES.length

/** Takes one call for 25 positions. Throws internal_error when the node fails. */
export async function burntAmong(
  node: NodeCalls,
  positions: readonly { address: string; nftMint: string }[],
): Promise<BurntPosition[]> {
  if (positions.length === 0) return []
  const [{ PublicKey }, { TOKEN_2022_PROGRAM_ID }, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const places = await Promise.all(
    positions.map(async ({ nftMint }) => {
      const { positionNftAccount } = await positionAddresses(nftMint)
      const burning = BURN_ADDRESSES.map((owner) =>
        deriver.tokenAccount(new PublicKey(nftMint), new PublicKey(owner), TOKEN_2022_PROGRAM_ID).toBase58(),
      )
      return [nftMint, positionNftAccount, ...burning]
    }),
  )
  const accounts = await accountsAt(node, places.flat())
  return positions.flatMap(({ address, nftMint }, i) => {
    const [mint = null, ...holders] = accounts.slice(i * ACCOUNTS_EACH, (i + 1) * ACCOUNTS_EACH)
    const at = holders.findIndex((account) => isBurntNft(mint, nftMint, account))
    const nftAccount = places[i]?.[at + 1]
    return at < 0 || nftAccount === undefined ? [] : [{ position: address, nftMint, nftAccount }]
  })
}
