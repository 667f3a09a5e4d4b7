/** Turns an instruction of a program's table into one of the SDK. */
import type { TransactionInstruction } from '@solana/web3.js'
import type { PlainInstruction } from '../../solana/programs/table.ts'

export async function sdkInstructions(): Promise<(plain: PlainInstruction) => TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  return ({ program, accounts, data }) =>
    new TransactionInstruction({
      programId: new PublicKey(program),
      keys: accounts.map(({ address, isSigner, isWritable }) => ({
        pubkey: new PublicKey(address),
        isSigner,
        isWritable,
      })),
      data: Buffer.from(data),
    })
}
