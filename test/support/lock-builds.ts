/** Builds transactions of locks and of gold locks as their verbs do. */
import { PublicKey } from '@solana/web3.js'
import { associatedAccounts } from '../../src/chain/programs/derived-addresses.ts'
import { escrowAddress, goldTerms, type LockTerms, onLock } from '../../src/chain/programs/jupiter-lock/index.ts'
import type { TokenProgram } from '../../src/chain/programs/tokens/index.ts'
import type { Envelope } from '../../src/chain/sending/unsigned.ts'

interface LockPlan extends Envelope {
  mint: string
  tokenProgram: TokenProgram
  memo?: string | undefined
}

/** The payer is the creator. */
export const buildLock = async (
  plan: LockPlan & {
    base: string
    recipient: string
    terms: LockTerms
    texts?: { title: string; description: string } | undefined
  },
) => onLock(plan, { ...plan, address: await escrowAddress(plan.base) }, ({ create }) => create(plan.payer, plan))

/** Times are Unix seconds. */
export type GoldLockPlan = LockPlan & { amount: bigint; startsAt: number; unlocksAt: number }

/** The payer alone signs, and is base, creator and recipient of the lock. */
export const buildGoldLock = (plan: GoldLockPlan) =>
  buildLock({ ...plan, base: plan.payer, recipient: plan.payer, terms: goldTerms(plan) })

/** Pays out and closes the lock; with 0 it is only closed. */
export const buildGoldUnlock = async (plan: LockPlan & { amount: bigint }) =>
  onLock(plan, { ...plan, address: await escrowAddress(plan.payer) }, ({ claim }) =>
    claim(plan.payer, plan.payer, plan.amount, { closes: true }),
  )

/** The accounts of a lock. */
export async function lockPlaces(lock: { address: string; mint: string; tokenProgram: TokenProgram }) {
  const { accountOf } = await associatedAccounts(lock)
  const [escrow, mint] = [new PublicKey(lock.address), new PublicKey(lock.mint)]
  return { escrow, mint, escrowToken: new PublicKey(accountOf(lock.address)) }
}
