/** Transactions of every version, signed for tests. */
import {
  type AddressLookupTableAccount,
  Keypair,
  PublicKey,
  type Signer,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { messageBytesOf, signatureOffset } from '../../src/solana/messages.ts'
import { keyPairOf, signFresh } from '../../src/solana/signatures.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'

export interface SignOptions {
  blockhash?: string
  tables?: AddressLookupTableAccount[]
  legacy?: boolean
}

/** The first signer pays. */
export function signed(instructions: TransactionInstruction[], signers: Signer[], options: SignOptions): Uint8Array {
  const { blockhash = '', tables, legacy = false } = options
  const message = new TransactionMessage({ payerKey: signers[0]!.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(tables),
  )
  addSignatures(transaction, signers)
  return transaction.serialize()
}

/** What `sign` of web3.js does, by Node's own crypto: the same bytes in a twentieth of the time. */
export function addSignatures(transaction: VersionedTransaction, signers: readonly Signer[]): void {
  const message = transaction.message.serialize()
  for (const { publicKey, secretKey } of signers) {
    transaction.addSignature(publicKey, signFresh(secretKey, message))
  }
}

/** Limits that suffice for what tests do; a version 1 transaction without them cannot do anything. */
export const V1_CONFIG: TransactionConfig = {
  priorityFeeLamports: null,
  computeUnitLimit: 400_000,
  loadedAccountsDataSizeLimit: 8 * 1024 * 1024,
  heapSize: null,
}

/** A transaction of version 1; the first signer pays. */
export function signedV1(
  instructions: TransactionInstruction[],
  signers: Keypair[],
  { blockhash, ...config }: { blockhash: string } & Partial<TransactionConfig>,
): Uint8Array {
  const { transaction, signers: keys } = compileTransaction({
    payer: signers[0]!.publicKey,
    recentBlockhash: blockhash,
    instructions,
    config: { ...V1_CONFIG, ...config },
    bytesOf: (key) => key.toBytes(),
  })
  const message = messageBytesOf(transaction)
  for (const [place, key] of keys.entries()) {
    const signer = signers.find(({ publicKey }) => publicKey.equals(new PublicKey(key)))
    if (signer === undefined) continue
    transaction.set(keyPairOf(signer.secretKey.subarray(0, 32)).sign(message), signatureOffset(transaction, place))
  }
  return transaction
}

export function transfer(from: Keypair, to: PublicKey, lamports: number | bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })
}

export const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const memo = (text: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) })
export const someone = () => Keypair.generate().publicKey
