/** Transactions of version 1 (SIMD-0385) for tests: compiled, signed, and as large as one can be. */
import { type Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { MAX_COMPUTE_UNITS, MAX_V1_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction, isWritable, keyAt, signatureOffset } from '../../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'

/** Limits that nothing here reaches. Without them, the runtime loads no account and runs no instruction. */
const AMPLE: TransactionConfig = {
  priorityFeeLamports: null,
  computeUnitLimit: MAX_COMPUTE_UNITS,
  loadedAccountsDataSizeLimit: 64 * 1_048_576,
  heapSize: null,
}

interface Parts {
  payer: PublicKey
  blockhash: string
  instructions: readonly TransactionInstruction[]
  /** What differs from limits that nothing reaches and no priority fee. */
  config?: Partial<TransactionConfig>
}

export const unsignedV1 = ({ payer, blockhash, instructions, config }: Parts): Uint8Array =>
  compileTransaction({
    payer,
    recentBlockhash: blockhash,
    instructions: [...instructions],
    config: { ...AMPLE, ...config },
    bytesOf: (key) => key.toBytes(),
  }).transaction

/** Adds the signatures of those of the keys that are asked for one. */
export function signV1(transaction: Uint8Array, keys: readonly Keypair[]): Uint8Array {
  const { message, messageBytes } = decodeWireTransaction(transaction)
  const signed = Uint8Array.from(transaction)
  for (const key of keys) {
    const place = message.keys.slice(0, message.signers).indexOf(key.publicKey.toBase58())
    if (place < 0) continue
    const signature = keyPairOf(key.secretKey.subarray(0, 32)).sign(messageBytes)
    signed.set(signature, signatureOffset(signed, place))
  }
  return signed
}

/** Signed by the payer alone. */
export const signedV1 = ({ payer, ...parts }: Omit<Parts, 'payer'> & { payer: Keypair }): Uint8Array =>
  signV1(unsignedV1({ ...parts, payer: payer.publicKey }), [payer])

/** Each of the transfers below, in lamports, which is more than the rent of an account without data. */
export const LARGEST_V1_TRANSFER = 1_000_000n

/** Transfers to as many new accounts as a message can name, and bytes of a memo, which `others` sign, up to the last. */
export function largestV1(parts: Omit<Parts, 'instructions'>, others = 0): Uint8Array {
  const [key, program] = [(n: number) => new PublicKey(Buffer.alloc(32, n + 1)), new PublicKey(MEMO_PROGRAM)]
  const signers = Array.from({ length: others }, (_, n) => ({ pubkey: key(n), isSigner: true, isWritable: false }))
  const transfers = Array.from({ length: 60 - others }, (_, n) =>
    SystemProgram.transfer({ fromPubkey: parts.payer, toPubkey: key(100 + n), lamports: LARGEST_V1_TRANSFER }),
  )
  const withMemo = (bytes: number) => {
    const memo = { programId: program, keys: signers, data: Buffer.alloc(bytes, 'm') }
    return unsignedV1({ ...parts, instructions: [...transfers, memo] })
  }
  return withMemo(MAX_V1_TRANSACTION_BYTES - withMemo(0).length)
}

/** The same instructions in version 1, unsigned; those of the Compute Budget program, which have no effect in it, are left out. */
export function inVersion1(transaction: string, config?: Partial<TransactionConfig>): Uint8Array {
  const { message } = decodeWireTransaction(Buffer.from(transaction, 'base64'))
  const key = (place: number) => new PublicKey(keyAt(message, place))
  const instructions = message.instructions
    .filter(({ programIdIndex }) => keyAt(message, programIdIndex) !== COMPUTE_BUDGET_PROGRAM)
    .map(({ programIdIndex, accounts, data }) => ({
      programId: key(programIdIndex),
      keys: [...accounts].map((place) => ({
        pubkey: key(place),
        isSigner: place < message.signers,
        isWritable: isWritable(message, 0, place),
      })),
      data: Buffer.from(data),
    }))
  return unsignedV1({ payer: key(0), blockhash: message.recentBlockhash, instructions, ...(config && { config }) })
}
