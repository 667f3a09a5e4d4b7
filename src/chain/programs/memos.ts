/** Builds memos (SPL Memo v2), texts in a transaction that their signers attest. */

import type { TransactionInstruction } from '@solana/web3.js'
import { MEMO_PROGRAM } from '../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../sending/unsigned.ts'

/** The program verifies that `signers` have signed. */
export async function memoInstruction(memo: string, signers: readonly string[]): Promise<TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  return new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: signers.map((signer) => ({ pubkey: new PublicKey(signer), isSigner: true, isWritable: false })),
    data: Buffer.from(memo, 'utf8'),
  })
}

/** Builds a transaction whose only instruction is the memo. */
export async function buildMemo({ memo, ...envelope }: Envelope & { memo: string }): Promise<UnsignedTransaction> {
  return compileUnsigned(envelope, [await memoInstruction(memo, [envelope.payer])])
}
