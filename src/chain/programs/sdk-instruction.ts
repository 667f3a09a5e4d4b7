/** Turns an instruction of a program's table into one of the SDK. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { PlainInstruction } from '../../solana/programs/table.ts'

export async function sdkInstructions(): Promise<(plain: PlainInstruction) => TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  // Compiling is faster if equal keys are the same object.
  const known = new Map<string, PublicKey>()
  const keyOf = (address: string) => {
    const key = known.get(address) ?? new PublicKey(address)
    known.set(address, key)
    return key
  }
  return ({ program, accounts, data }) =>
    new TransactionInstruction({
      programId: keyOf(program),
      keys: accounts.map(({ address, isSigner, isWritable }) => ({ pubkey: keyOf(address), isSigner, isWritable })),
      data: Buffer.from(data),
    })
}
