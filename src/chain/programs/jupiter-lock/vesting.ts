/** Reads what a lock of any recipient pays out over time, and builds its claim. */
import type { PublicKey } from '@solana/web3.js'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { openDeriver } from '../derived-addresses.ts'
import type { Escrow } from './escrow.ts'
import { LOCK_INSTRUCTIONS } from './program.ts'

/** Compute limit for a claim that cannot be simulated: half more than the largest run used. */
export const VESTING_CLAIM_UNITS = 64_000

export interface VestedAmounts {
  /** Raw units that are locked in total. */
  total: bigint
  /** Raw units that a claim pays now. */
  claimable: bigint
  /** The next payout: its Unix seconds and raw units. Null after the last one. */
  next: { at: bigint; amount: bigint } | null
}

export interface VestingClaim extends Envelope {
  escrow: Pick<Escrow, 'address' | 'recipient' | 'mint' | 'tokenProgram'>
  /** Most raw units that are claimed. The program pays the vested part of them, which may be nothing. */
  amount: bigint
}

/** Rounds as the program does: nothing before the cliff, then only whole periods. A cancelled lock pays nothing. */
export function vestedAmounts(escrow: Escrow, unixSeconds: bigint): VestedAmounts {
  const { cliffTime, cliffAmount, amountPerPeriod, periods, frequency, claimed, cancelledAt } = escrow
  const total = cliffAmount + amountPerPeriod * periods
  if (cancelledAt > 0n) return { total, claimable: 0n, next: null }
  if (unixSeconds < cliffTime) {
    return { total, claimable: 0n, next: { at: cliffTime, amount: cliffAmount } }
  }
  const elapsed = frequency === 0n ? periods : (unixSeconds - cliffTime) / frequency
  const passed = elapsed < periods ? elapsed : periods
  const vested = cliffAmount + amountPerPeriod * passed
  return {
    total,
    claimable: vested > claimed ? vested - claimed : 0n,
    next: passed >= periods ? null : { at: cliffTime + (passed + 1n) * frequency, amount: amountPerPeriod },
  }
}

/** The recipient signs and is paid; the payer opens its token account if it is missing. */
export async function buildVestingClaim(claim: VestingClaim): Promise<UnsignedTransaction> {
  const [{ PublicKey, TransactionInstruction }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const { escrow, amount } = claim
  const programId = new PublicKey(PROGRAMS.lock.id)
  const tokenProgram = escrow.tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const [lock, mint, recipient, payer] = [escrow.address, escrow.mint, escrow.recipient, claim.payer].map(
    (address) => new PublicKey(address),
  ) as [PublicKey, PublicKey, PublicKey, PublicKey]
  const token = deriver.tokenAccount(mint, recipient, tokenProgram)
  const [eventAuthority] = deriver.find([Buffer.from('__event_authority')], programId)
  const account = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isWritable, isSigner })
  const data = Buffer.concat([Buffer.from(LOCK_INSTRUCTIONS.claim, 'hex'), Buffer.alloc(8), NO_FURTHER_ACCOUNTS])
  data.writeBigUInt64LE(amount, 8)
  const take = new TransactionInstruction({
    programId,
    keys: [
      account(lock, true),
      account(mint),
      account(deriver.tokenAccount(mint, lock, tokenProgram), true),
      account(recipient, true, true),
      account(token, true),
      account(new PublicKey(MEMO_PROGRAM)),
      account(tokenProgram),
      account(eventAuthority),
      account(programId),
    ],
    data,
  })
  const open = spl.createAssociatedTokenAccountIdempotentInstruction(payer, token, recipient, mint, tokenProgram)
  return compileUnsigned(claim, [open, take])
}

const NO_FURTHER_ACCOUNTS = Buffer.of(0)
