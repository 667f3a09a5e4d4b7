/** Transfers lamports from a signer to any address, by the System program; a transfer of 0 carries a reference. */
import type { TransactionInstruction } from '@solana/web3.js'

export async function transferInstruction(from: string, to: string, lamports: bigint): Promise<TransactionInstruction> {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  return SystemProgram.transfer({ fromPubkey: new PublicKey(from), toPubkey: new PublicKey(to), lamports })
}

/** A transfer of 0 from the payer to itself that also names `reference`, as Solana Pay does it, and changes nothing. */
export async function referenceInstruction(payer: string, reference: string): Promise<TransactionInstruction> {
  const { PublicKey } = await import('@solana/web3.js')
  const transfer = await transferInstruction(payer, payer, 0n)
  transfer.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false })
  return transfer
}
