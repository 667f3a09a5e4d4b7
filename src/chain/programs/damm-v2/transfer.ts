/** Builds the transfer of positions to another wallet: whoever holds the NFT of a position owns it. */
import { TOKEN_2022_PROGRAM } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { openDeriver } from '../derived-addresses.ts'
import type { DammV2Position } from './positions.ts'

/** Positions in one transaction, which also fit as the proposal of a multisig. */
export const MOST_TRANSFERRED_POSITIONS = 4
/** Compute limit for one position if the transaction cannot be simulated: mostly the new token account. */
export const POSITION_TRANSFER_UNITS = 60_000

export interface PositionTransfer extends Envelope {
  /** Positions whose NFTs the payer holds. */
  positions: readonly Pick<DammV2Position, 'nftMint' | 'positionNftAccount'>[]
  newOwner: string
}

/** Sends each NFT to the new owner's associated token account, opened by the payer, and closes the empty one. */
export async function buildPositionTransfer(input: PositionTransfer): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const [owner, newOwner, program] = [input.payer, input.newOwner, TOKEN_2022_PROGRAM].map(
    (key) => new PublicKey(key),
  ) as [import('@solana/web3.js').PublicKey, import('@solana/web3.js').PublicKey, import('@solana/web3.js').PublicKey]
  const instructions = input.positions.flatMap(({ nftMint, positionNftAccount }) => {
    const [mint, from] = [new PublicKey(nftMint), new PublicKey(positionNftAccount)]
    const to = deriver.tokenAccount(mint, newOwner, program)
    return [
      spl.createAssociatedTokenAccountIdempotentInstruction(owner, to, newOwner, mint, program),
      spl.createTransferCheckedInstruction(from, mint, to, owner, 1n, 0, [], program),
      spl.createCloseAccountInstruction(from, owner, owner, [], program),
    ]
  })
  return compileUnsigned(input, instructions)
}
