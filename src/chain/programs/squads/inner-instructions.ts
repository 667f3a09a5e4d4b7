/** The instructions of a vault's message, for a transaction of its own. */
import type { TransactionInstruction } from '@solana/web3.js'
import { addressBytes } from '../../../solana/addresses.ts'
import { addressesOf, isWritablePlace, type PinnedMessage } from '../../../solana/squads/index.ts'

/** Their accounts sign and are written as in the message. */
export async function innerInstructions(message: PinnedMessage): Promise<TransactionInstruction[]> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const keys = addressesOf(message).map((address) => new PublicKey(addressBytes(address)))
  const keyAt = (place: number) => {
    const key = keys[place]
    if (key === undefined) throw new Error(`the message has no account ${place}`)
    return key
  }
  return message.instructions.map(
    ({ programIdIndex, accounts, data }) =>
      new TransactionInstruction({
        programId: keyAt(programIdIndex),
        keys: [...accounts].map((place) => ({
          pubkey: keyAt(place),
          isSigner: place < message.signers,
          isWritable: isWritablePlace(message, place),
        })),
        data: Buffer.from(data),
      }),
  )
}
