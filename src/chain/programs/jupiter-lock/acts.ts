/** Builds the transactions of a lock, and those of a gold lock, whose only party is one wallet. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { type Escrow, JUPITER_LOCK, type LockTerms, writtenTerms } from '../../../solana/programs/jupiter-lock.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { openDeriver } from '../derived-addresses.ts'
import { memoInstruction } from '../memos.ts'
import { deriveProgramAddress } from '../pdas.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { TokenProgram } from '../tokens/index.ts'

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
export async function escrowAddress(base: string): Promise<string> {
  return (await deriveProgramAddress('gold_lock', { user: base })).address
}

/** Returns the address of the account with the texts of a lock. */
export async function textsAddress(escrow: string): Promise<PublicKey> {
  const [{ PublicKey }, deriver] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  const seeds = [Buffer.from('escrow_metadata'), new PublicKey(escrow).toBytes()]
  return deriver.find(seeds, new PublicKey(JUPITER_LOCK.id))[0]
}

type LockAt = Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>

/** Derives the accounts that the instructions for a lock name, besides those of its parties. */
export async function lockPlaces(lock: LockAt) {
  const [{ PublicKey }, spl, deriver] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    openDeriver(),
  ])
  const [escrow, mint] = [new PublicKey(lock.address), new PublicKey(lock.mint)]
  const tokenProgram = lock.tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  /** Returns the associated token account of a wallet. */
  const accountOf = (owner: PublicKey) => deriver.tokenAccount(mint, owner, tokenProgram)
  return {
    mint,
    tokenProgram,
    escrow,
    accountOf,
    /** Token account that holds the locked tokens. */
    escrowToken: accountOf(escrow),
    /** Account with title and description, which need not exist. */
    escrowMetadata: await textsAddress(lock.address),
  }
}

/** The texts that a creator wrote about a lock, as they are on chain. */
export interface LockTexts {
  title: string
  description: string
}

export type LockActs = Awaited<ReturnType<typeof lockActs>>

/** The instructions of each act. The parties are addresses; each has its associated token account. */
async function lockActs(lock: LockAt) {
  const [{ PublicKey }, spl, sdk, places] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    sdkInstructions(),
    lockPlaces(lock),
  ])
  const { mint, tokenProgram, accountOf } = places
  const tokensOf = (owner: string) => accountOf(new PublicKey(owner)).toBase58()
  const at = {
    escrow: lock.address,
    escrow_token: places.escrowToken.toBase58(),
    escrow_metadata: places.escrowMetadata.toBase58(),
    token_mint: lock.mint,
    token_program: tokenProgram.toBase58(),
  }
  /** Opens the associated token account of an owner if it is missing; the payer pays its rent. */
  function open(payer: string, owner: string): TransactionInstruction {
    const [from, to] = [new PublicKey(payer), new PublicKey(owner)]
    return spl.createAssociatedTokenAccountIdempotentInstruction(from, accountOf(to), to, mint, tokenProgram)
  }
  const closing = (creator: string) =>
    sdk(JUPITER_LOCK.instruction('close_vesting_escrow', { ...at, creator, creator_token: tokensOf(creator) }, {}))
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
    create(
      sender: string,
      { base, recipient, terms, texts }: Pick<LockCreation, 'base' | 'recipient' | 'terms' | 'texts'>,
    ) {
      const accounts = { ...at, base, sender, sender_token: tokensOf(sender), recipient }
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
      const accounts = { ...at, recipient, recipient_token: tokensOf(recipient) }
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
      const tokens = { creator_token: tokensOf(creator), recipient_token: tokensOf(recipient) }
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

/** Parts of every transaction of a lock. */
interface LockTransaction extends Envelope {
  memo?: string | undefined
}

/** Builds a transaction of acts on one lock. */
export async function onLock(
  transaction: LockTransaction,
  lock: LockAt,
  acts: (of: LockActs) => TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const { payer, memo } = transaction
  return compileUnsigned(transaction, [
    ...acts(await lockActs(lock)),
    ...(memo === undefined ? [] : [await memoInstruction(memo, [payer])]),
  ])
}

export interface LockCreation extends LockTransaction {
  /** Address that signs and gives the lock its address. The payer is the creator. */
  base: string
  recipient: string
  mint: string
  tokenProgram: TokenProgram
  terms: LockTerms
  texts?: LockTexts | undefined
}

export async function buildLock(creation: LockCreation): Promise<UnsignedTransaction> {
  const lock = { ...creation, address: await escrowAddress(creation.base) }
  return onLock(creation, lock, ({ create }) => create(creation.payer, creation))
}

/** The parts of a gold lock. The payer alone signs, pays rent and fee, and is base, creator and recipient of the lock. */
interface GoldTransaction extends LockTransaction {
  mint: string
  tokenProgram: TokenProgram
  /** Raw units: more than 0 to lock. With 0, unlocking only closes the account. */
  amount: bigint
}

/** Times are Unix seconds of the chain's clock. */
export type GoldLockPlan = GoldTransaction & { startsAt: number; unlocksAt: number }

/** Opens the lock and moves the amount into it. No one can cancel it or change its recipient. */
export const buildGoldLock = (plan: GoldLockPlan): Promise<UnsignedTransaction> =>
  buildLock({
    ...plan,
    base: plan.payer,
    recipient: plan.payer,
    terms: {
      startTime: BigInt(plan.startsAt),
      cliffTime: BigInt(plan.unlocksAt),
      // Everything unlocks at the cliff. No periods follow, but the program requires a frequency.
      frequency: 1n,
      cliffAmount: plan.amount,
      amountPerPeriod: 0n,
      periods: 0n,
      updateRecipientMode: 0,
      cancelMode: 0,
    },
  })

/**
 * Pays out and closes the lock, and opens the token account if it is missing. Before the unlock time the transaction
 * fails.
 */
export async function buildGoldUnlock(plan: GoldTransaction): Promise<UnsignedTransaction> {
  const { payer, amount } = plan
  const lock = { ...plan, address: await escrowAddress(payer) }
  return onLock(plan, lock, ({ claim }) => claim(payer, payer, amount, { closes: true }))
}
