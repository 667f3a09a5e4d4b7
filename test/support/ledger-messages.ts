/** Messages of transactions for a hardware wallet to sign. */
import { PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js'

const RECIPIENT = new PublicKey(Uint8Array.from({ length: 32 }, (_, i) => i + 1))

/** A message of version 0 with this many transfers of one lamport from the payer, each to another account. */
export function transferMessage(payer: Uint8Array, transfers = 1): Uint8Array {
  const payerKey = new PublicKey(payer)
  const instructions = Array.from({ length: transfers }, (_, i) => {
    const toPubkey = new PublicKey(RECIPIENT.toBytes().with(0, i))
    return SystemProgram.transfer({ fromPubkey: payerKey, toPubkey, lamports: 1 })
  })
  const recentBlockhash = RECIPIENT.toBase58()
  return new TransactionMessage({ payerKey, recentBlockhash, instructions }).compileToV0Message().serialize()
}
