/** Builds the transactions of a lock. */
import type { TransactionInstruction } from '@solana/web3.js'
import { addressBytes } from '../../../solana/addresses.ts'
import { utf8 } from '../../../solana/bytes.ts'
import { deriveAddress } from '../../../solana/program-addresses.ts'
import {
  type Escrow,
  JUPITER_LOCK,
  type LockTerms,
  type LockTexts,
  writtenTerms,
} from '../../../solana/programs/jupiter-lock.ts'
import { openingInstruction } from '../../../solana/token-acts.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { associatedAccounts } from '../derived-addresses.ts'
import { memoInstruction } from '../memos.ts'
import { deriveProgramAddress } from '../pdas.ts'
import { sdkInstructions } from '../sdk-instruction.ts'

/**
 * Compute limits for transactions that cannot be simulated: half more than the largest that were measured (a creation
 * with texts took 98,000 units, a cancellation 93,000), because the cost of deriving addresses varies by wallet.
 */
export const LOCK_UNITS = {
  create: 160_000,
  claim: 80_000,
  claimAndClose: 150_000,
  cancel: 200_000,
  changeRecipient: 30_000,
  entitle: 60_000,
  close: 120_000,
} as const

/** Returns the address of the lock of a base, which signs its creation. */
export const escrowAddress = (base: string): string => deriveProgramAddress('gold_lock', { user: base }).address

/** Returns the address of the account with the texts of a lock. */
export const textsAddress = (escrow: string): string =>
  deriveAddress(JUPITER_LOCK.id, utf8('escrow_metadata'), addressBytes(escrow)).address

type LockAt = Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>

interface LockCreation {
  /** Address that signs and gives the lock its address. */
  base: string
  recipient: string
  terms: LockTerms
  texts?: LockTexts | undefined
}

export type LockActs = Awaited<ReturnType<typeof lockActs>>

/** The instructions of each act. The parties are addresses; each has its associated token account. */
async function lockActs(lock: LockAt) {
  const sdk = await sdkInstructions()
  const { program: token_program, accountOf } = associatedAccounts(lock)
  const escrow_metadata = textsAddress(lock.address)
  const { address: escrow, mint: token_mint } = lock
  const at = { escrow, escrow_token: accountOf(escrow), escrow_metadata, token_mint, token_program }
  /** Opens the associated token account of a wallet if it is missing; the payer pays its rent. */
  function open(source: string, wallet: string): TransactionInstruction {
    const own = { wallet, account: accountOf(wallet), mint: token_mint, program: token_program }
    return sdk(openingInstruction({ ...own, payer: source }))
  }
  const closing = (creator: string) =>
    sdk(JUPITER_LOCK.instruction('close_vesting_escrow', { ...at, creator, creator_token: accountOf(creator) }, {}))
  /** Writes title and description; the creator pays the rent of their account. */
  function entitle(creator: string, { title: name, description }: LockTexts): TransactionInstruction[] {
    // The last two texts are e-mail addresses, which nobody should publish.
    const texts = { name, description, creator_email: '', recipient_email: '' }
    const accounts = { ...at, creator, payer: creator }
    return [sdk(JUPITER_LOCK.instruction('create_vesting_escrow_metadata', accounts, texts))]
  }
  return {
    entitle,
    /** Makes the lock with its texts, if there are any. The creator's tokens are locked. */
    create(sender: string, { base, recipient, terms, texts }: LockCreation) {
      const accounts = { ...at, base, sender, sender_token: accountOf(sender), recipient }
      return [
        open(sender, lock.address),
        sdk(JUPITER_LOCK.instruction('create_vesting_escrow_v2', accounts, writtenTerms(terms))),
        ...(texts === undefined ? [] : entitle(sender, texts)),
      ]
    },
    /**
     * Pays the recipient, who signs, what has unlocked of at most `amount`; with 0 nothing is claimed. The payer opens
     * the token account if it is missing. `closes` also closes the lock, for a recipient who made it.
     */
    claim(payer: string, recipient: string, amount: bigint, { closes = false } = {}) {
      const accounts = { ...at, recipient, recipient_token: accountOf(recipient) }
      return [
        open(payer, recipient),
        ...(amount > 0n ? [sdk(JUPITER_LOCK.instruction('claim_v2', accounts, { max_amount: amount }))] : []),
        ...(closes ? [closing(recipient)] : []),
      ]
    },
    /**
     * Pays the recipient what has unlocked, and the creator the rest and the token account's rent. The payer cancels,
     * and opens the token accounts that are missing. A creator also closes the lock.
     */
    cancel(payer: string, { creator, recipient }: Pick<Escrow, 'creator' | 'recipient'>) {
      const tokens = { creator_token: accountOf(creator), recipient_token: accountOf(recipient) }
      const accounts = { ...at, ...tokens, rent_receiver: creator, signer: payer }
      return [
        ...[...new Set([creator, recipient])].map((party) => open(payer, party)),
        sdk(JUPITER_LOCK.instruction('cancel_vesting_escrow', accounts, {})),
        ...(payer === creator ? [closing(creator)] : []),
      ]
    },
    changeRecipient(signer: string, to: string) {
      // The account with the texts is left out, which the program's own address says.
      const accounts = { ...at, escrow_metadata: JUPITER_LOCK.id, signer }
      return [sdk(JUPITER_LOCK.instruction('update_vesting_escrow_recipient', accounts, { new_recipient: to }))]
    },
    /** Closes a lock that is paid out or cancelled. The program wants the creator's token account. */
    close: (creator: string) => [open(creator, creator), closing(creator)],
  }
}

/** Builds a transaction of acts on one lock. */
export async function onLock(
  transaction: Envelope & { memo?: string | undefined },
  lock: LockAt,
  acts: (of: LockActs) => TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const { payer, memo } = transaction
  return compileUnsigned(transaction, [
    ...acts(await lockActs(lock)),
    ...(memo === undefined ? [] : [await memoInstruction(memo, [payer])]),
  ])
}
