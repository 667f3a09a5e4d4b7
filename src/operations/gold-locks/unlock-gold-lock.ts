/** Builds the unlocking of gold whose time has come: paid out and closed in one transaction. */

import type { Connection } from '@solana/web3.js'
import { inWords } from '../../api/durations.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import {
  buildGoldUnlock,
  type Escrow,
  isPaidOut,
  readLockOf,
  readUnlockWay,
} from '../../chain/programs/jupiter-lock/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { platformFee } from '../platform-fee.ts'
import { memoOf } from './memo.ts'
import { foreignness, noGoldLock, secondsLeft, storedLock, unlocksAt } from './on-chain.ts'

type UnlockGoldLockRoute = Api['goldLocks']['unlock']

/** Twice what the costliest unlocking was measured at (74,000 with a token account to open): finding addresses varies by wallet. */
const FALLBACK_UNITS = 150_000

export async function unlockGoldLock(
  context: Context,
  input: Input<UnlockGoldLockRoute>,
): Promise<Result<UnlockGoldLockRoute>> {
  const { chain, config } = context
  const { user, platform_id } = input
  const connection = await chain.connection()
  const { escrow, at } = await readLockOf(connection, user)
  if (escrow === null) throw noGoldLock(context, user)
  const why = foreignness(context, escrow, await storedLock(context, user))
  if (why !== null) throw noGoldLock(context, user, escrow, why)
  const left = secondsLeft(escrow, at)
  // What another tool paid out already is only closed.
  if (left > 0 && !isPaidOut(escrow)) {
    const until = unlocksAt(escrow)
    throw badRequest(`The gold of ${user} is locked for another ${inWords(left)}, until ${until}`, {
      param: 'user',
      details: { escrow: escrow.address, unlocks_at: until, seconds_left: left },
    })
  }
  await requirePassable(connection, escrow)
  await requireProgram(chain, PROGRAMS.lock)
  const after = await platformFee({ ...context, connection }, { payer: user, lamports: input.platform_fee })
  const recentBlockhash = await readLatestBlockhash(connection)
  const { address, mint, tokenProgram, cliffAmount, claimed } = escrow
  const amount = isPaidOut(escrow) ? 0n : cliffAmount - claimed
  const memo = memoOf('gold-unlock', platform_id)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildGoldUnlock({ payer: user, mint, tokenProgram, amount, memo, recentBlockhash, before, after }),
    FALLBACK_UNITS,
  )
  return {
    mode: 'unsigned',
    transaction: Buffer.from(transaction).toString('base64'),
    requiredSigners,
    escrow: address,
    mint,
    amount: String(amount),
    tracked_resource: {
      resource_type: 'gold_lock',
      resource_id: user,
      related_events: amount > 0n ? ['gold.unlocked'] : [],
    },
  }
}

/** Tokens leave or reach no account that is frozen, whoever's they are: who can thaw it is said. */
async function requirePassable(connection: Connection, escrow: Escrow): Promise<void> {
  const { base: user, mint } = escrow
  const { lock, wallet, freezeAuthority } = await readUnlockWay(connection, escrow)
  if (wallet.state !== null && wallet.state.owner !== user) {
    throw badRequest(
      `The token account ${wallet.address} of ${user} belongs to ${wallet.state.owner}: the gold can only be paid out once it is given back`,
      { param: 'user', details: { escrow: escrow.address, mint, account: wallet.address, owner: wallet.state.owner } },
    )
  }
  // Closing alone moves no tokens.
  if ((lock.state?.amount ?? 0n) === 0n) return
  for (const [whose, { address, state }] of [
    ['of the lock', lock],
    ['of the wallet', wallet],
  ] as const) {
    if (state?.state !== 'frozen') continue
    const way =
      freezeAuthority === null
        ? 'and nobody can thaw it, as the token has no freeze authority any more'
        : `its freeze authority ${freezeAuthority} must thaw it first`
    throw badRequest(
      `The gold of ${user} cannot be unlocked: the token account ${address} ${whose} is frozen, ${way}`,
      {
        param: 'user',
        details: { escrow: escrow.address, mint, account: address, freeze_authority: freezeAuthority },
      },
    )
  }
}
