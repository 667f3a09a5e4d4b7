/** Builds the two transactions of a gold lock: the wallet locks its tokens, and withdraws them later with the rent. */

import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { memoInstruction } from '../memos.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { LOCK_INSTRUCTIONS, lockAccounts } from './program.ts'

type LockAccounts = Awaited<ReturnType<typeof lockAccounts>>

/** The payer is the wallet. It alone signs, pays rent and fee, and is base, creator and recipient of the lock. */
interface GoldTransaction extends Envelope {
  mint: string
  tokenProgram: TokenProgram
  memo: string
}

export interface GoldLockPlan extends GoldTransaction {
  /** Amount in raw units, more than 0. */
  amount: bigint
  /** Start in Unix seconds of the chain's clock. */
  startsAt: number
  unlocksAt: number
}

export interface GoldUnlockPlan extends GoldTransaction {
  /** Raw units that are still locked. With 0 the account is only closed. */
  amount: bigint
}

/**
 * Bytes of `vesting_start_time, cliff_time, frequency, cliff_unlock_amount, amount_per_period, number_of_period` and
 * two modes.
 */
const PARAMETERS = 6 * 8 + 2
/** An empty option, for no further accounts. */
const NONE = Buffer.of(0)

/** Opens the lock and moves the amount into it. No one can cancel it or change its recipient. */
export async function buildGoldLock(input: GoldLockPlan): Promise<UnsignedTransaction> {
  const accounts = await lockAccountsOf(input)
  const { mint, escrow, escrowToken, user, userToken, tokenProgram } = accounts
  const [{ SystemProgram }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const create = await instruction(
    accounts,
    [
      signerAccount(user),
      writable(escrow),
      readonlyAccount(mint),
      writable(escrowToken),
      signerAccount(user),
      writable(userToken),
      readonlyAccount(user),
      readonlyAccount(tokenProgram),
      readonlyAccount(SystemProgram.programId),
    ],
    Buffer.concat([Buffer.from(LOCK_INSTRUCTIONS.create, 'hex'), parameters(input), NONE]),
  )
  return compileUnsigned(input, [
    spl.createAssociatedTokenAccountIdempotentInstruction(user, escrowToken, escrow, mint, tokenProgram),
    create,
    await memoInstruction(input.memo, [input.payer]),
  ])
}

/**
 * Pays out and closes the lock, and opens the token account if it is missing. Before the unlock time the transaction
 * fails.
 */
export async function buildGoldUnlock(input: GoldUnlockPlan): Promise<UnsignedTransaction> {
  const accounts = await lockAccountsOf(input)
  const { mint, escrow, escrowToken, escrowMetadata, user, userToken, tokenProgram } = accounts
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const memoProgram = new PublicKey(MEMO_PROGRAM)
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(input.amount)
  const claim = () =>
    instruction(
      accounts,
      [
        writable(escrow),
        readonlyAccount(mint),
        writable(escrowToken),
        signerAccount(user),
        writable(userToken),
        readonlyAccount(memoProgram),
        readonlyAccount(tokenProgram),
      ],
      Buffer.concat([Buffer.from(LOCK_INSTRUCTIONS.claim, 'hex'), amount, NONE]),
    )
  const close = await instruction(
    accounts,
    [
      writable(escrow),
      writable(escrowMetadata),
      writable(mint),
      writable(escrowToken),
      writable(userToken),
      signerAccount(user),
      readonlyAccount(tokenProgram),
      readonlyAccount(memoProgram),
    ],
    Buffer.concat([Buffer.from(LOCK_INSTRUCTIONS.close, 'hex'), NONE]),
  )
  return compileUnsigned(input, [
    spl.createAssociatedTokenAccountIdempotentInstruction(user, userToken, user, mint, tokenProgram),
    ...(input.amount > 0n ? [await claim()] : []),
    close,
    await memoInstruction(input.memo, [input.payer]),
  ])
}

const lockAccountsOf = ({ payer, mint, tokenProgram }: GoldTransaction) =>
  lockAccounts({ user: payer, mint, tokenProgram })

/** Everything unlocks at the cliff. No periods follow, but the program requires a frequency. */
function parameters({ startsAt, unlocksAt, amount }: GoldLockPlan): Buffer {
  const bytes = Buffer.alloc(PARAMETERS)
  const numbers = [BigInt(startsAt), BigInt(unlocksAt), 1n, amount, 0n, 0n]
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(number, i * 8)
  return bytes
}

const signerAccount = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: true })
const writable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true })
const readonlyAccount = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false })

/** Every instruction ends with the accounts for its event. */
async function instruction(
  { program, eventAuthority }: LockAccounts,
  keys: readonly AccountMeta[],
  data: Buffer,
): Promise<TransactionInstruction> {
  const { TransactionInstruction } = await import('@solana/web3.js')
  return new TransactionInstruction({
    programId: program,
    keys: [...keys, readonlyAccount(eventAuthority), readonlyAccount(program)],
    data,
  })
}
