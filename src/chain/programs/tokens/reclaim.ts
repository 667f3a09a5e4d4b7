/** Builds the transaction that returns excess rent, and says how large it can be. */
import type { TransactionInstruction } from '@solana/web3.js'
import { MAX_INSTRUCTION_TRACE } from '../../../solana/constants.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import type { ReclaimableAccount } from './excess.ts'

/**
 * Most accounts in one transaction with a compute limit and a price, by its version. Version 0 is bounded by its bytes,
 * version 1 by its 64 addresses.
 */
export const MOST_RECLAIMED = { 0: 25, 1: 61 } as const
/** Bytes of the instructions of one account, of the guard of an account that stays, and of that of the wallet. */
const [RECLAIM_BYTES, ASSOCIATED_BYTES, OTHER_BYTES, WALLET_BYTES] = [40, 62, 129, 166]
const ROOM = { 0: MOST_RECLAIMED[0] * RECLAIM_BYTES, 1: 3_600 } as const
/** Addresses that guards add, and instructions that are executed for those of the wallet and for another. */
const [GUARD_ADDRESSES, WALLET_TRACE, GUARD_TRACE] = [3, 9, 3]

/** How many of the accounts, from the first on, fit into one transaction; with guards of those that stay, fewer. */
export function fittingReclaims(
  accounts: readonly ReclaimableAccount[],
  { wallet, version, isGuarded }: { wallet: string; version: 0 | 1; isGuarded: boolean },
): number {
  const most = Math.min(accounts.length, MOST_RECLAIMED[version] - (isGuarded && version === 1 ? GUARD_ADDRESSES : 0))
  if (!isGuarded) return most
  let [bytes, trace] = [ROOM[version] - WALLET_BYTES, MAX_INSTRUCTION_TRACE - WALLET_TRACE]
  for (const [i, { address, mint, program, kind, action }] of accounts.slice(0, most).entries()) {
    const stays = action === 'withdraw' && kind !== 'mint'
    const isAssociated = stays && address === associatedTokenAddress(wallet, mint, program)
    bytes -= RECLAIM_BYTES + (!stays ? 0 : isAssociated ? ASSOCIATED_BYTES : OTHER_BYTES)
    trace -= 1 + (stays ? GUARD_TRACE : 0)
    if (bytes < 0 || trace < 0) return Math.max(1, i)
  }
  return most
}

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
