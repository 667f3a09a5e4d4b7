/** The platform fee: a System transfer in the same transaction as what it is for. */
import type { TransactionInstruction } from '@solana/web3.js'

/** Nothing for 0 lamports. */
export async function platformFeeTransfer(
  from: string,
  to: string,
  lamports: bigint,
): Promise<TransactionInstruction[]> {
  if (lamports === 0n) return []
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  return [SystemProgram.transfer({ fromPubkey: new PublicKey(from), toPubkey: new PublicKey(to), lamports })]
}
