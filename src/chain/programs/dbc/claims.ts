/** Builds the transactions that take what a launch curve owes the partner: its trading fees, and its surplus. */
import { badRequest } from '../../../errors.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../unsigned.ts'
import { baseAccount, openDbc, requireSolQuote, wrappedSol } from './program.ts'
import type { DbcPool } from './types.ts'

/** Compute limits where a claim cannot be simulated: half as much again as the largest run used. */
export const FEE_CLAIM_UNITS = { claim: 95_000, surplus: 50_000 } as const
const [RECIPIENTS, RECIPIENTS_OF_ANOTHER_PAYER] = [10, 8]

type Claimed = Pick<
  DbcPool,
  'address' | 'config' | 'baseMint' | 'quoteMint' | 'baseVault' | 'quoteVault' | 'baseProgram' | 'partnerBaseFee'
>

export interface PartnerFeeClaim extends Envelope {
  pool: Claimed
  /** The fee claimer of the pool's config: it signs, and gets what is claimed. */
  feeClaimer: string
  /** Exactly what is claimed, of the pool's `partnerQuoteFee`. */
  lamports: bigint
  /** Paid by the fee claimer, in this order; no more than `lamports` together. */
  splits: readonly { recipient: string; lamports: bigint }[]
}

export interface SurplusClaim extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'quoteMint' | 'quoteVault'>
  feeClaimer: string
}

/** Recipients that fit in a transaction with compute limit and price; the account of another payer takes room. */
export function maxRecipients(payerIsClaimer: boolean): number {
  return payerIsClaimer ? RECIPIENTS : RECIPIENTS_OF_ANOTHER_PAYER
}

/**
 * Claims the trading fees into the fee claimer's SOL and pays the splits from them: the whole transaction fails where
 * less than `lamports` are there, as after another claim. The fee claimer opens and closes the wrapped account, so that
 * its rent is nobody's loss, and all that it held before becomes SOL; the payer pays for the fee claimer's account of the token where that is
 * missing. Throws bad_request naming `splits` when they are more than fit, or than what is claimed.
 */
export async function buildPartnerFeeClaim(claim: PartnerFeeClaim): Promise<UnsignedTransaction> {
  requireSolQuote(claim.pool)
  checkSplits(claim)
  const { methods, web3, spl, key, bn, poolAuthority, events } = await openDbc()
  const { pool, lamports, splits } = claim
  const [claimer, payer] = [key(claim.feeClaimer), key(claim.payer)]
  const [sol, token] = [await wrappedSol(claimer), await baseAccount(pool, claimer, payer)]
  const take = await methods
    .claimTradingFee(bn(pool.partnerBaseFee), bn(lamports))
    .accountsStrict({
      poolAuthority,
      config: key(pool.config),
      pool: key(pool.address),
      tokenAAccount: token.address,
      tokenBAccount: sol.address,
      baseVault: key(pool.baseVault),
      quoteVault: key(pool.quoteVault),
      baseMint: key(pool.baseMint),
      quoteMint: key(pool.quoteMint),
      feeClaimer: claimer,
      tokenBaseProgram: token.program,
      tokenQuoteProgram: spl.TOKEN_PROGRAM_ID,
      ...events,
    })
    .instruction()
  // The program gives less without a word where less is there. A transfer to itself asks for the whole amount, of an
  // account that was emptied before, so that nothing else can stand in for it.
  const whole = spl.createTransferInstruction(sol.address, sol.address, claimer, lamports)
  const instructions = [token.open, sol.open, sol.unwrap, sol.open, take, whole, sol.unwrap]
  for (const { recipient, lamports } of splits) {
    instructions.push(web3.SystemProgram.transfer({ fromPubkey: claimer, toPubkey: key(recipient), lamports }))
  }
  return compileUnsigned(claim, instructions)
}

/** Withdraws the partner's surplus of a full curve into the fee claimer's SOL; once for each pool. */
export async function buildSurplusClaim(claim: SurplusClaim): Promise<UnsignedTransaction> {
  requireSolQuote(claim.pool)
  const { methods, spl, key, poolAuthority, events } = await openDbc()
  const { pool } = claim
  const claimer = key(claim.feeClaimer)
  const sol = await wrappedSol(claimer)
  const take = await methods
    .partnerWithdrawSurplus()
    .accountsStrict({
      poolAuthority,
      config: key(pool.config),
      virtualPool: key(pool.address),
      tokenQuoteAccount: sol.address,
      quoteVault: key(pool.quoteVault),
      quoteMint: key(pool.quoteMint),
      feeClaimer: claimer,
      tokenQuoteProgram: spl.TOKEN_PROGRAM_ID,
      ...events,
    })
    .instruction()
  return compileUnsigned(claim, [sol.open, take, sol.unwrap])
}

function checkSplits({ splits, lamports, payer, feeClaimer }: PartnerFeeClaim): void {
  if (lamports <= 0n) throw badRequest('There is nothing to claim', { param: 'address' })
  const most = maxRecipients(payer === feeClaimer)
  if (splits.length > most) {
    const why = payer === feeClaimer ? '' : ', or pay with the fee claimer itself, which leaves room for ten'
    throw badRequest(`splits: at most ${most} recipients fit in a transaction, these are ${splits.length}${why}`, {
      param: 'splits',
    })
  }
  const sum = splits.reduce((total, split) => total + split.lamports, 0n)
  if (sum > lamports) throw badRequest(`splits take ${sum} lamports of ${lamports}`, { param: 'splits' })
}
