/** Pays the shares of a claim to its recipients, and says how many fit in the claim's transaction. */

import type { TransactionInstruction } from '@solana/web3.js'
import { ApiError, badRequest } from '../../../platform/errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned } from '../../sending/unsigned.ts'
import { openDbc, quoteAccount } from './program.ts'
import type { TradingFeeClaim } from './types.ts'

/** Recipients of SOL that fit beside compute limit and price. */
const SOL_RECIPIENTS = 10
/** A separate payer takes additional room. */
const SOL_RECIPIENTS_OF_ANOTHER_PAYER = 8
/**
 * A run has at most 64 instructions (Agave's MAX_INSTRUCTION_TRACE_LENGTH), calls between programs included. A claim
 * in SOL takes 22 of them, and 4 more if both accounts that it opens already hold lamports.
 */
const SOL_RECIPIENTS_IN_VERSION_1 = 38
const MOST_INSTRUCTIONS = 64
/** Most instructions of a claim in another quote, and of one share. */
const INSTRUCTIONS_OF_CLAIM = 24
const INSTRUCTIONS_OF_SHARE = { open: 1, missing: 6, funded: 8 } as const

/** Returns how many recipients of SOL fit in a claim with compute limit and price. */
export function maxRecipients(payerIsClaimer: boolean, version: 0 | 1 = 0): number {
  if (version === 1) return SOL_RECIPIENTS_IN_VERSION_1
  return payerIsClaimer ? SOL_RECIPIENTS : SOL_RECIPIENTS_OF_ANOTHER_PAYER
}

/** Returns the instructions of each share: a transfer, after the opening of an account that is missing. */
export async function payShares({ pool, splits, ...claim }: TradingFeeClaim): Promise<TransactionInstruction[][]> {
  const { web3, spl, key } = await openDbc()
  const [claimer, payer] = [key(claim.claimer), key(claim.payer)]
  if (pool.quoteMint === WRAPPED_SOL) {
    return splits.map(({ recipient, amount }) => [
      web3.SystemProgram.transfer({ fromPubkey: claimer, toPubkey: key(recipient), lamports: amount }),
    ])
  }
  const from = await quoteAccount(pool, claimer)
  return Promise.all(
    splits.map(async ({ recipient, amount, account = 'missing' }) => {
      const to = await quoteAccount(pool, key(recipient), payer)
      const transfer = spl.createTransferCheckedInstruction(
        from.address,
        key(pool.quoteMint),
        to.address,
        claimer,
        amount,
        pool.quoteDecimals,
        [],
        from.program,
      )
      return account === 'open' ? [transfer] : [to.open, transfer]
    }),
  )
}

/** Throws bad_request naming `splits` if not all shares fit, with the number that do. */
export async function requireRoom(
  claim: TradingFeeClaim,
  instructions: readonly TransactionInstruction[],
  shares: readonly TransactionInstruction[][],
): Promise<void> {
  const { pool, payer, claimer, messageConfig } = claim
  const version = messageConfig === undefined ? 0 : 1
  const isSol = pool.quoteMint === WRAPPED_SOL
  const most = isSol ? maxRecipients(payer === claimer, version) : await mostTokenShares(claim, instructions, shares)
  if (shares.length <= most) return
  const other = payer === claimer ? '' : ', or pay with the claimer itself, which leaves more room'
  const accounts = isSol ? '' : `, or have the recipients open their accounts of ${pool.quoteMint} first`
  const room = isSol ? `, which has room for ${SOL_RECIPIENTS_IN_VERSION_1}` : ''
  const ways = version === 1 ? accounts.replace(', or', ':') : `: send tx_version 1${room}${other}${accounts}`
  throw badRequest(`splits: at most ${most} recipients fit in a transaction, not ${shares.length}${ways}`, {
    param: 'splits',
  })
}

/** Returns how many of the shares, from the first on, fit by instructions and by size. */
async function mostTokenShares(
  claim: TradingFeeClaim,
  instructions: readonly TransactionInstruction[],
  shares: readonly TransactionInstruction[][],
): Promise<number> {
  let room = MOST_INSTRUCTIONS - INSTRUCTIONS_OF_CLAIM
  const refused = claim.splits.findIndex(({ account = 'missing' }) => {
    room -= INSTRUCTIONS_OF_SHARE[account]
    return room < 0
  })
  for (let most = refused < 0 ? shares.length : refused; most > 0; most--) {
    try {
      await compileUnsigned(claim, [...instructions, ...shares.slice(0, most).flat()])
      return most
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
  return 0
}
