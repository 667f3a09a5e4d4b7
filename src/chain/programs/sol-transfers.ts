/** Transfers lamports from a signer to any address, by the System program. */
import type { TransactionInstruction } from '@solana/web3.js'

export async function transferInstruction(from: string, to: string, lamports: bigint): Promise<TransactionInstruction> {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  return SystemProgram.transfer({ fromPubkey: new PublicKey(from), toPubkey: new PublicKey(to), lamports })
}
