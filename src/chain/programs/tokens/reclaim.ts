/** Builds the transaction that returns excess rent, and says how large it can be. */
import type { TransactionInstruction } from '@solana/web3.js'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import type { ReclaimableAccount } from './excess.ts'

/**
 * Most accounts in one transaction with a compute limit and a price, by its version. Version 0 is bounded by its bytes,
 * version 1 by its 64 addresses.
 */
export const MOST_RECLAIMED = { 0: 25, 1: 61 } as const
/** About one and a half times the measured cost of Token-2022, and what a transaction needs besides. */
const RECLAIM_UNITS = 2_500
const OTHER_UNITS = 1_000

/** Returns the compute limit of a transaction that cannot be simulated. */
export const reclaimUnits = (accounts: number): number => accounts * RECLAIM_UNITS + OTHER_UNITS

export interface Reclaim extends Envelope {
  accounts: readonly Pick<ReclaimableAccount, 'address' | 'program' | 'action'>[]
}

/** Withdraws from the accounts or closes them, one instruction each, in their order; the payer signs and receives. */
export async function buildReclaim({ accounts, ...envelope }: Reclaim): Promise<UnsignedTransaction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const wallet = new PublicKey(envelope.payer)
  const programs = new Map([TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => [program, new PublicKey(program)]))
  const instructions = accounts.map(({ address, program, action }): TransactionInstruction => {
    return new TransactionInstruction({
      programId: programs.get(program) ?? new PublicKey(program),
      keys: [
        { pubkey: new PublicKey(address), isSigner: false, isWritable: true },
        { pubkey: wallet, isSigner: false, isWritable: true },
        { pubkey: wallet, isSigner: true, isWritable: false },
      ],
      data: Buffer.of(action === 'close' ? CLOSE_ACCOUNT : WITHDRAW_EXCESS),
    })
  })
  return compileUnsigned(envelope, instructions)
}

/** Instructions of both token programs; neither has arguments. */
const CLOSE_ACCOUNT = 9
const WITHDRAW_EXCESS = 38
