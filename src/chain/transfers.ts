/** Lamports from one wallet to another. */
import type { TransactionInstruction } from '@solana/web3.js'

/** Signed by `from`. */
export async function transferInstruction(from: string, to: string, lamports: bigint): Promise<TransactionInstruction> {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  return SystemProgram.transfer({ fromPubkey: new PublicKey(from), toPubkey: new PublicKey(to), lamports })
}
