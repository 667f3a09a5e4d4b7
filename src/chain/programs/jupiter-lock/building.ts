/** Builds the transactions of a lock, and those of a gold lock, whose only party is one wallet. */
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { memoInstruction } from '../memos.ts'
import type { TokenProgram } from '../tokens/index.ts'
import type { Escrow } from './escrow.ts'
import { type LockInstructions, type LockTerms, lockInstructions } from './instructions.ts'
import { escrowAddress, lockPlaces } from './program.ts'

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

/** Parts of every transaction of a lock. */
interface LockTransaction extends Envelope {
  memo?: string | undefined
}

export interface LockCreation extends LockTransaction {
  /** Address that signs and gives the lock its address. The payer is the creator. */
  base: string
  recipient: string
  mint: string
  tokenProgram: TokenProgram
  terms: LockTerms
  texts?: { title: string; description: string } | undefined
}

/** The parts of a lock that its later instructions name. */
export type BuiltLock = Pick<Escrow, 'address' | 'mint' | 'tokenProgram' | 'creator' | 'recipient'>

type Make = (make: LockInstructions) => ReturnType<LockInstructions['open']>[]

/** Makes the lock with its texts, if there are any. The payer's tokens are locked. */
export async function buildLock(creation: LockCreation): Promise<UnsignedTransaction> {
  const { payer, base, recipient, mint, tokenProgram, terms, texts } = creation
  const escrow = await escrowAddress(base)
  return compileLock(creation, { address: escrow, mint, tokenProgram }, (make) => [
    make.open(payer, escrow),
    make.create({ base, creator: payer, recipient }, terms),
    ...(texts === undefined ? [] : [make.entitle(payer, texts)]),
  ])
}

/**
 * The recipient signs, and is paid what has unlocked of at most `amount`; with 0 nothing is claimed. The payer opens
 * its token account if it is missing. `closes` also closes the lock, for a recipient who made it.
 */
export function buildLockClaim(
  claim: LockTransaction & {
    lock: Pick<Escrow, 'address' | 'recipient' | 'mint' | 'tokenProgram'>
    amount: bigint
    closes?: boolean
  },
): Promise<UnsignedTransaction> {
  const { payer, lock, amount, closes = false } = claim
  return compileLock(claim, lock, (make) => [
    make.open(payer, lock.recipient),
    ...(amount > 0n ? [make.claim(lock.recipient, amount)] : []),
    ...(closes ? [make.close(lock.recipient)] : []),
  ])
}

/** The payer cancels, and opens the token accounts that are missing. A creator also closes the lock. */
export function buildLockCancellation(
  cancellation: LockTransaction & { lock: BuiltLock },
): Promise<UnsignedTransaction> {
  const { payer, lock } = cancellation
  const { creator, recipient } = lock
  const parties = creator === recipient ? [creator] : [creator, recipient]
  return compileLock(cancellation, lock, (make) => [
    ...parties.map((party) => make.open(payer, party)),
    make.cancel({ by: payer, creator, recipient }),
    ...(payer === creator ? [make.close(creator)] : []),
  ])
}

/** The payer, who may change the recipient, does so. */
export function buildRecipientChange(
  change: LockTransaction & { lock: BuiltLock; to: string },
): Promise<UnsignedTransaction> {
  const { payer, lock, to } = change
  return compileLock(change, lock, (make) => [make.changeRecipient(payer, to)])
}

/** The payer, who made the lock, writes its texts. */
export function buildLockTitling(
  titling: LockTransaction & { lock: BuiltLock; texts: { title: string; description: string } },
): Promise<UnsignedTransaction> {
  const { payer, lock, texts } = titling
  return compileLock(titling, lock, (make) => [make.entitle(payer, texts)])
}

/** The payer, who made the lock, closes it. The program wants the payer's token account, which is opened if missing. */
export function buildLockClosing(closing: LockTransaction & { lock: BuiltLock }): Promise<UnsignedTransaction> {
  const { payer, lock } = closing
  return compileLock(closing, lock, (make) => [make.open(payer, payer), make.close(payer)])
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
      ...{ frequency: 1n, cliffAmount: plan.amount, amountPerPeriod: 0n, periods: 0n },
      ...{ updateRecipientMode: 0, cancelMode: 0 },
    },
  })

/**
 * Pays out and closes the lock, and opens the token account if it is missing. Before the unlock time the transaction
 * fails.
 */
export async function buildGoldUnlock(plan: GoldTransaction): Promise<UnsignedTransaction> {
  const { payer: recipient, mint, tokenProgram } = plan
  const lock = { address: await escrowAddress(recipient), recipient, mint, tokenProgram }
  return buildLockClaim({ ...plan, lock, closes: true })
}

async function compileLock(
  transaction: LockTransaction,
  { address, mint, tokenProgram }: Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>,
  instructions: Make,
): Promise<UnsignedTransaction> {
  const make = await lockInstructions(await lockPlaces({ escrow: address, mint, tokenProgram }))
  const { payer, memo } = transaction
  return compileUnsigned(transaction, [
    ...instructions(make),
    ...(memo === undefined ? [] : [await memoInstruction(memo, [payer])]),
  ])
}
