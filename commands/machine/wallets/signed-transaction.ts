/** Lists who has signed a transaction, and who is missing. */
import { decodeTransaction } from '../../../src/chain/sending/transactions.ts'
import { signatureHolds } from '../../../src/solana/signatures.ts'
import type { SignedTransaction } from '../../signing/wallet.ts'

/** Counts the valid signatures; the others are missing. */
export function signedTransaction(raw: Uint8Array): SignedTransaction {
  const transaction = Buffer.from(raw).toString('base64')
  const complete = decodeTransaction(transaction)
  const signers = complete.message.keys.slice(0, complete.message.signers)
  const validSigners = signers.filter((_, i) => signatureHolds(complete, i))
  return {
    transaction,
    signature: validSigners[0] === signers[0] ? complete.signature : null,
    signed: validSigners,
    missing: signers.filter((signer) => !validSigners.includes(signer)),
  }
}
