/** Memos (SPL Memo v2): a text that a transaction carries and its signers vouch for. */

import type { TransactionInstruction } from '@solana/web3.js'
import { MEMO_PROGRAM } from '../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from './unsigned.ts'

/** Signed by `signers`, which the program checks. */
export async function memoInstruction(memo: string, signers: readonly string[]): Promise<TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  return new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: signers.map((signer) => ({ pubkey: new PublicKey(signer), isSigner: true, isWritable: false })),
    data: Buffer.from(memo, 'utf8'),
  })
}

/** A transaction that does nothing but carry the memo. */
export async function buildMemo({ memo, ...envelope }: Envelope & { memo: string }): Promise<UnsignedTransaction> {
  return compileUnsigned(envelope, [await memoInstruction(memo, [envelope.payer])])
}
