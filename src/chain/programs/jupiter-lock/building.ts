/** Builds the two transactions of a gold lock: the wallet locks its tokens, and takes them back with the rent. */

import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import { memoInstruction } from '../../memos.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../unsigned.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { INSTRUCTIONS, lockAccounts } from './program.ts'

type Accounts = Awaited<ReturnType<typeof lockAccounts>>

/** The payer is the wallet: it signs alone, pays rent and fee, and is base, creator and recipient of the lock. */
interface Common extends Envelope {
  mint: string
  tokenProgram: TokenProgram
  memo: string
}

export interface GoldLocking extends Common {
  /** Raw units, more than 0. */
  amount: bigint
  /** Unix seconds of the chain's clock. */
  startsAt: number
  unlocksAt: number
}

export interface GoldUnlocking extends Common {
  /** Raw units that are still locked; 0 only closes the account. */
  amount: bigint
}

/** `vesting_start_time, cliff_time, frequency, cliff_unlock_amount, amount_per_period, number_of_period` and two modes. */
const PARAMETERS = 6 * 8 + 2
/** An empty option: no further accounts. */
const NONE = Buffer.of(0)

/** Opens the lock and moves the amount into it; nobody can cancel it or change who gets it. */
export async function buildGoldLock(input: GoldLocking): Promise<UnsignedTransaction> {
  const accounts = await accountsOf(input)
  const { mint, escrow, escrowToken, user, userToken, tokenProgram } = accounts
  const [{ SystemProgram }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const create = await instruction(
    accounts,
    [
      signer(user),
      writable(escrow),
      plain(mint),
      writable(escrowToken),
      signer(user),
      writable(userToken),
      plain(user),
      plain(tokenProgram),
      plain(SystemProgram.programId),
    ],
    Buffer.concat([Buffer.from(INSTRUCTIONS.create, 'hex'), parameters(input), NONE]),
  )
  return compileUnsigned(input, [
    spl.createAssociatedTokenAccountIdempotentInstruction(user, escrowToken, escrow, mint, tokenProgram),
    create,
    await memoInstruction(input.memo, [input.payer]),
  ])
}

/** Pays out and closes; the token account is opened where it is missing. Before the time it fails as a whole. */
export async function buildGoldUnlock(input: GoldUnlocking): Promise<UnsignedTransaction> {
  const accounts = await accountsOf(input)
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
        plain(mint),
        writable(escrowToken),
        signer(user),
        writable(userToken),
        plain(memoProgram),
        plain(tokenProgram),
      ],
      Buffer.concat([Buffer.from(INSTRUCTIONS.claim, 'hex'), amount, NONE]),
    )
  const close = await instruction(
    accounts,
    [
      writable(escrow),
      writable(escrowMetadata),
      writable(mint),
      writable(escrowToken),
      writable(userToken),
      signer(user),
      plain(tokenProgram),
      plain(memoProgram),
    ],
    Buffer.concat([Buffer.from(INSTRUCTIONS.close, 'hex'), NONE]),
  )
  return compileUnsigned(input, [
    spl.createAssociatedTokenAccountIdempotentInstruction(user, userToken, user, mint, tokenProgram),
    ...(input.amount > 0n ? [await claim()] : []),
    close,
    await memoInstruction(input.memo, [input.payer]),
  ])
}

const accountsOf = ({ payer, mint, tokenProgram }: Common) => lockAccounts({ user: payer, mint, tokenProgram })

/** All of it at the cliff: no periods follow, though the program wants a frequency. */
function parameters({ startsAt, unlocksAt, amount }: GoldLocking): Buffer {
  const bytes = Buffer.alloc(PARAMETERS)
  const numbers = [BigInt(startsAt), BigInt(unlocksAt), 1n, amount, 0n, 0n]
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(number, i * 8)
  return bytes
}

const signer = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: true })
const writable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true })
const plain = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false })

/** Every one ends with the accounts that its event takes. */
async function instruction(
  { program, eventAuthority }: Accounts,
  keys: readonly AccountMeta[],
  data: Buffer,
): Promise<TransactionInstruction> {
  const { TransactionInstruction } = await import('@solana/web3.js')
  return new TransactionInstruction({
    programId: program,
    keys: [...keys, plain(eventAuthority), plain(program)],
    data,
  })
}
