/** Builds the transactions that claim trading fees from a launch curve, for its partner or its creator. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { payShares, requireRoom } from './claim-shares.ts'
import { baseAccount, openDbc, quoteAccount } from './program.ts'
import type { TradingFeeClaim } from './types.ts'

/** Compute limit for a claim that cannot be simulated: half more than the largest run used. */
export const TRADING_FEE_CLAIM_UNITS = 95_000
/** Additional units for each share that opens its recipient's account. */
export const OPENED_SHARE_UNITS = 35_000

/**
 * Claims the fees, in SOL into the claimer's lamports, and pays the splits, or fails entirely if less than `amount` is
 * there. The claimer opens and closes its wrapped account and keeps its rent; the payer opens its other token accounts.
 * Throws bad_request naming `splits` for too many, or a sum above the claim.
 */
export async function buildTradingFeeClaim(claim: TradingFeeClaim): Promise<UnsignedTransaction> {
  checkAmounts(claim)
  const { spl, key } = await openDbc()
  const { pool, amount, held = 0n, isTokenMissing = false } = claim
  const [claimer, payer] = [key(claim.claimer), key(claim.payer)]
  const token = await baseAccount(pool, claimer, payer)
  // A wrapped account is closed again, so the claimer pays its rent and gets it back.
  const quote = await quoteAccount(pool, claimer, pool.quoteMint === WRAPPED_SOL ? claimer : payer)
  const take = await takeTradingFees(claim, token.address, quote.address)
  const shares = await payShares(claim)
  // The program silently pays less if less is available. A transfer to itself asserts the whole amount.
  const asserted = (least: bigint) =>
    amount === 0n
      ? []
      : [spl.createTransferInstruction(quote.address, quote.address, claimer, least, [], quote.program)]
  const isClosed = isTokenMissing && closesToken(claim)
  const closing = isClosed ? [spl.createCloseAccountInstruction(token.address, payer, claimer, [], token.program)] : []
  const { open, unwrap } = quote
  // Wrapped SOL is emptied first, so that no earlier balance satisfies the assertion.
  const instructions =
    unwrap === null
      ? [token.open, open, take, ...asserted(held + amount), ...closing]
      : [token.open, open, unwrap, open, take, ...asserted(amount), unwrap, ...closing]
  await requireRoom(claim, instructions, shares)
  return compileUnsigned(claim, [...instructions, ...shares.flat()])
}

async function takeTradingFees(
  { pool, beneficiary, amount, ...claim }: TradingFeeClaim,
  tokenAAccount: PublicKey,
  tokenBAccount: PublicKey,
): Promise<TransactionInstruction> {
  const { methods, key, bn, poolAuthority, events } = await openDbc()
  const claimer = key(claim.claimer)
  const accounts = {
    poolAuthority,
    pool: key(pool.address),
    tokenAAccount,
    tokenBAccount,
    baseVault: key(pool.baseVault),
    quoteVault: key(pool.quoteVault),
    baseMint: key(pool.baseMint),
    quoteMint: key(pool.quoteMint),
    tokenBaseProgram: (await baseAccount(pool, claimer)).program,
    tokenQuoteProgram: (await quoteAccount(pool, claimer)).program,
    ...events,
  }
  if (beneficiary === 'creator') {
    return methods
      .claimCreatorTradingFee(bn(pool.creatorBaseFee), bn(amount))
      .accountsStrict({ ...accounts, creator: claimer })
      .instruction()
  }
  return methods
    .claimTradingFee(bn(pool.partnerBaseFee), bn(amount))
    .accountsStrict({ ...accounts, config: key(pool.config), feeClaimer: claimer })
    .instruction()
}

/** Most shares with which any transaction still has room to close an account, whatever its version and payer. */
const SHARES_BESIDE_CLOSING = 7

/**
 * Returns whether a claim that opens the claimer's account of the pool's token closes it again, because nothing is paid
 * into it and its rent may be more than the claim.
 */
export function closesToken(claim: Pick<TradingFeeClaim, 'pool' | 'beneficiary' | 'splits'>): boolean {
  const { pool, splits } = claim
  const isOpen = pool.quoteMint === WRAPPED_SOL || splits.every(({ account }) => account === 'open')
  return baseFeeOf(claim) === 0n && isOpen && splits.length <= SHARES_BESIDE_CLOSING
}

const baseFeeOf = ({ pool, beneficiary }: Pick<TradingFeeClaim, 'pool' | 'beneficiary'>): bigint =>
  beneficiary === 'creator' ? pool.creatorBaseFee : pool.partnerBaseFee

function checkAmounts({ pool, beneficiary, amount, splits }: TradingFeeClaim): void {
  if (amount <= 0n && baseFeeOf({ pool, beneficiary }) <= 0n)
    throw badRequest('There is nothing to claim', { param: 'address' })
  const sum = splits.reduce((total, split) => total + split.amount, 0n)
  if (sum > amount) throw badRequest(`splits take ${sum} raw units of ${amount}`, { param: 'splits' })
}
