/** Makes the instructions of Jupiter Lock. Every amount is in raw units, every time in Unix seconds. */

import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { LockSchedule } from '../../../solana/lock-schedule.ts'
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { LOCK_INSTRUCTIONS, type LockPlaces } from './program.ts'

/** What the creation of a lock writes into its account. */
export interface LockTerms extends LockSchedule {
  startTime: bigint
  /** Who may change the recipient: the sum of 1 for the creator and 2 for the recipient. */
  updateRecipientMode: number
  cancelMode: number
}

/**
 * Bytes of `vesting_start_time, cliff_time, frequency, cliff_unlock_amount, amount_per_period, number_of_period` and
 * two modes.
 */
const PARAMETERS = 6 * 8 + 2
/** An empty option: no further accounts, or no text. */
const NONE = Buffer.of(0)

const signer = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: true })
const writable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true })
const readonly = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false })

export interface LockInstructions {
  /** Opens the associated token account of an owner if it is missing; the payer pays its rent. */
  open(payer: PublicKey, owner: PublicKey): TransactionInstruction
  /** Makes the lock, and moves its whole amount from the creator's associated account into it. */
  create(
    parties: { base: PublicKey; creator: PublicKey; recipient: PublicKey },
    terms: LockTerms,
  ): TransactionInstruction
  /** Writes title and description; the creator pays the rent of their account. */
  entitle(creator: PublicKey, texts: { title: string; description: string }): TransactionInstruction
  /** Pays the recipient what has unlocked, at most `amount`. */
  claim(recipient: PublicKey, amount: bigint): TransactionInstruction
  /** Pays the recipient what has unlocked, and the creator the rest. The creator gets the token account's rent. */
  cancel(parties: { by: PublicKey; creator: PublicKey; recipient: PublicKey }): TransactionInstruction
  changeRecipient(by: PublicKey, to: PublicKey): TransactionInstruction
  /** Closes a lock that is paid out or cancelled, and returns the rent to its creator. */
  close(creator: PublicKey): TransactionInstruction
}

export async function lockInstructions(places: LockPlaces): Promise<LockInstructions> {
  const [{ PublicKey, TransactionInstruction }, spl] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
  ])
  const { mint, tokenProgram, escrow, escrowToken, escrowMetadata, eventAuthority, program, accountOf } = places
  const [memoProgram, systemProgram] = [new PublicKey(MEMO_PROGRAM), new PublicKey(SYSTEM_PROGRAM)]
  /** Every instruction but that of the texts ends with the accounts for its event. */
  const call = (name: keyof typeof LOCK_INSTRUCTIONS, keys: AccountMeta[], ...data: Uint8Array[]) =>
    new TransactionInstruction({
      programId: program,
      keys: name === 'entitle' ? keys : [...keys, readonly(eventAuthority), readonly(program)],
      data: Buffer.concat([Buffer.from(LOCK_INSTRUCTIONS[name], 'hex'), ...data]),
    })
  return {
    open: (payer, owner) =>
      spl.createAssociatedTokenAccountIdempotentInstruction(payer, accountOf(owner), owner, mint, tokenProgram),
    create: ({ base, creator, recipient }, terms) =>
      call(
        'create',
        [
          signer(base),
          writable(escrow),
          readonly(mint),
          writable(escrowToken),
          signer(creator),
          writable(accountOf(creator)),
          readonly(recipient),
          readonly(tokenProgram),
          readonly(systemProgram),
        ],
        parameters(terms),
        NONE,
      ),
    entitle: (creator, { title, description }) =>
      call(
        'entitle',
        [writable(escrow), signer(creator), writable(escrowMetadata), signer(creator), readonly(systemProgram)],
        // The last two texts are e-mail addresses, which nobody should publish.
        ...[title, description, '', ''].map(textBytes),
      ),
    claim: (recipient, amount) =>
      call(
        'claim',
        [
          writable(escrow),
          readonly(mint),
          writable(escrowToken),
          signer(recipient),
          writable(accountOf(recipient)),
          readonly(memoProgram),
          readonly(tokenProgram),
        ],
        u64(amount),
        NONE,
      ),
    cancel: ({ by, creator, recipient }) =>
      call(
        'cancel',
        [
          writable(escrow),
          writable(mint),
          writable(escrowToken),
          writable(accountOf(creator)),
          writable(accountOf(recipient)),
          writable(creator),
          signer(by),
          readonly(memoProgram),
          readonly(tokenProgram),
        ],
        NONE,
      ),
    changeRecipient: (by, to) =>
      call(
        'changeRecipient',
        // The account with the texts is left out, which the program's own address says.
        [writable(escrow), readonly(program), signer(by), readonly(systemProgram)],
        to.toBytes(),
        NONE,
      ),
    close: (creator) =>
      call(
        'close',
        [
          writable(escrow),
          writable(escrowMetadata),
          writable(mint),
          writable(escrowToken),
          writable(accountOf(creator)),
          signer(creator),
          readonly(tokenProgram),
          readonly(memoProgram),
        ],
        NONE,
      ),
  }
}

function parameters(terms: LockTerms): Buffer {
  const bytes = Buffer.alloc(PARAMETERS)
  const { startTime, cliffTime, frequency, cliffAmount, amountPerPeriod, periods } = terms
  for (const [i, number] of [startTime, cliffTime, frequency, cliffAmount, amountPerPeriod, periods].entries()) {
    bytes.writeBigUInt64LE(number, i * 8)
  }
  bytes.writeUInt8(terms.updateRecipientMode, PARAMETERS - 2)
  bytes.writeUInt8(terms.cancelMode, PARAMETERS - 1)
  return bytes
}

function u64(number: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(number)
  return bytes
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}
