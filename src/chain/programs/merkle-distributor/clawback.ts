/** Builds the withdrawal of the remainder of a vault, which the program sends only to the stored receiver. */
import { PROGRAMS } from '../../../solana/programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { tokenAccountAddress } from './addresses.ts'
import { DISTRIBUTOR_INSTRUCTIONS } from './layout.ts'

export interface Clawback extends Envelope {
  distributor: string
  mint: string
  /** Token account that the distributor names as receiver. */
  receiver: string
  /** Owner for whom the receiver, its associated token account, is opened again first, or null if it is open. */
  opensReceiverFor: string | null
}

/** Compute limit for a withdrawal that cannot be simulated: half more than the largest run used. */
export const CLAWBACK_UNITS = 45_000

/** The payer signs as the caller, which can be anyone after the clawback time. */
export async function buildClawback(input: Clawback): Promise<UnsignedTransaction> {
  const [web3, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const key = (address: string) => new web3.PublicKey(address)
  const [payer, receiver] = [key(input.payer), key(input.receiver)]
  const clawback = new web3.TransactionInstruction({
    programId: key(PROGRAMS.distributor.id),
    keys: [
      { pubkey: key(input.distributor), isSigner: false, isWritable: true },
      { pubkey: key(await tokenAccountAddress(input.mint, input.distributor)), isSigner: false, isWritable: true },
      { pubkey: receiver, isSigner: false, isWritable: true },
      { pubkey: payer, isSigner: true, isWritable: false },
      { pubkey: web3.SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: spl.TOKEN_PROGRAM_ID, isSigner: false, isWritable: false },
    ],
    data: DISTRIBUTOR_INSTRUCTIONS.clawback,
  })
  const owner = input.opensReceiverFor
  const opening =
    owner === null
      ? []
      : [spl.createAssociatedTokenAccountIdempotentInstruction(payer, receiver, key(owner), key(input.mint))]
  return compileUnsigned(input, [...opening, clawback])
}
