/** Makes the instructions of a lock. Every amount is in raw units, every time in Unix seconds. */
import type { TransactionInstruction } from '@solana/web3.js'
import type { LockSchedule } from '../../../solana/lock-schedule.ts'
import { JUPITER_LOCK } from '../../../solana/programs/jupiter-lock.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { LockTexts } from './escrow.ts'
import type { LockPlaces } from './program.ts'

/** What the creation of a lock writes into its account. */
export interface LockTerms extends LockSchedule {
  startTime: bigint
  /** Who may change the recipient: the sum of 1 for the creator and 2 for the recipient. */
  updateRecipientMode: number
  cancelMode: number
}

export type LockInstructions = Awaited<ReturnType<typeof lockInstructions>>

/** The parties are addresses; each has its associated token account. */
export async function lockInstructions(places: LockPlaces) {
  const [{ PublicKey }, spl, sdk] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    sdkInstructions(),
  ])
  const { mint, tokenProgram, accountOf } = places
  const tokensOf = (owner: string) => accountOf(new PublicKey(owner)).toBase58()
  const at = {
    escrow: places.escrow.toBase58(),
    escrow_token: places.escrowToken.toBase58(),
    escrow_metadata: places.escrowMetadata.toBase58(),
    token_mint: mint.toBase58(),
    token_program: tokenProgram.toBase58(),
  }
  return {
    /** Opens the associated token account of an owner if it is missing; the payer pays its rent. */
    open(payer: string, owner: string): TransactionInstruction {
      const [from, to] = [new PublicKey(payer), new PublicKey(owner)]
      return spl.createAssociatedTokenAccountIdempotentInstruction(from, accountOf(to), to, mint, tokenProgram)
    },
    /** Makes the lock, and moves its whole amount from the creator's associated account into it. */
    create: (parties: { base: string; creator: string; recipient: string }, terms: LockTerms) => {
      const { base, creator: sender, recipient } = parties
      const accounts = { ...at, base, sender, sender_token: tokensOf(sender), recipient }
      return sdk(JUPITER_LOCK.instruction('create_vesting_escrow_v2', accounts, writtenTerms(terms)))
    },
    /** Writes title and description; the creator pays the rent of their account. */
    entitle: (creator: string, { title: name, description }: LockTexts) => {
      // The last two texts are e-mail addresses, which nobody should publish.
      const texts = { name, description, creator_email: '', recipient_email: '' }
      return sdk(JUPITER_LOCK.instruction('create_vesting_escrow_metadata', { ...at, creator, payer: creator }, texts))
    },
    /** Pays the recipient what has unlocked, at most `amount`. */
    claim: (recipient: string, amount: bigint) => {
      const accounts = { ...at, recipient, recipient_token: tokensOf(recipient) }
      return sdk(JUPITER_LOCK.instruction('claim_v2', accounts, { max_amount: amount }))
    },
    /** Pays the recipient what has unlocked, and the creator the rest. The creator gets the token account's rent. */
    cancel: ({ by: signer, creator, recipient }: { by: string; creator: string; recipient: string }) => {
      const tokens = { creator_token: tokensOf(creator), recipient_token: tokensOf(recipient) }
      return sdk(
        JUPITER_LOCK.instruction('cancel_vesting_escrow', { ...at, ...tokens, rent_receiver: creator, signer }, {}),
      )
    },
    changeRecipient: (signer: string, to: string) => {
      // The account with the texts is left out, which the program's own address says.
      const accounts = { ...at, escrow_metadata: JUPITER_LOCK.id, signer }
      return sdk(JUPITER_LOCK.instruction('update_vesting_escrow_recipient', accounts, { new_recipient: to }))
    },
    /** Closes a lock that is paid out or cancelled, and returns the rent to its creator. */
    close: (creator: string) =>
      sdk(JUPITER_LOCK.instruction('close_vesting_escrow', { ...at, creator, creator_token: tokensOf(creator) }, {})),
  }
}

const writtenTerms = (terms: LockTerms) => ({
  vesting_start_time: terms.startTime,
  cliff_time: terms.cliffTime,
  frequency: terms.frequency,
  cliff_unlock_amount: terms.cliffAmount,
  amount_per_period: terms.amountPerPeriod,
  number_of_period: terms.periods,
  update_recipient_mode: terms.updateRecipientMode,
  cancel_mode: terms.cancelMode,
})
