/** Builds the transactions that claim the partner's trading fees and surplus from a launch curve. */
import { badRequest } from '../../../errors.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../unsigned.ts'
import { baseAccount, openDbc, requireSolQuote, wrappedSol } from './program.ts'
import type { DbcPool } from './types.ts'

/** Compute limits for a claim that cannot be simulated: half more than the largest run used. */
export const FEE_CLAIM_UNITS = { claim: 95_000, surplus: 50_000 } as const
const [RECIPIENTS, RECIPIENTS_OF_ANOTHER_PAYER] = [10, 8]
/**
 * A run has 64 instructions at most (Agave's MAX_INSTRUCTION_TRACE_LENGTH), those that programs call included. The claim
 * takes 22 of them, and 4 more where lamports lie at the addresses of both accounts that it opens.
 */
const RECIPIENTS_IN_VERSION_1 = 38

type Claimed = Pick<
  DbcPool,
  'address' | 'config' | 'baseMint' | 'quoteMint' | 'baseVault' | 'quoteVault' | 'baseProgram' | 'partnerBaseFee'
>

export interface PartnerFeeClaim extends Envelope {
  pool: Claimed
  /** The fee claimer of the pool's config, which signs and receives the claimed amount. */
  feeClaimer: string
  /** Exact amount to claim from the pool's `partnerQuoteFee`. */
  lamports: bigint
  /** Payments by the fee claimer, in this order. Their sum is at most `lamports`. */
  splits: readonly { recipient: string; lamports: bigint }[]
}

export interface SurplusClaim extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'quoteMint' | 'quoteVault'>
  feeClaimer: string
}

/**
 * Returns how many recipients fit in a transaction with compute limit and price. In version 0 another payer's account
 * takes room.
 */
export function maxRecipients(payerIsClaimer: boolean, version: 0 | 1 = 0): number {
  if (version === 1) return RECIPIENTS_IN_VERSION_1
  return payerIsClaimer ? RECIPIENTS : RECIPIENTS_OF_ANOTHER_PAYER
}

/**
 * Claims the fees into the fee claimer's SOL and pays the splits, or fails entirely if less than `lamports` is there.
 * The claimer opens and closes its wrapped account and keeps its rent; the payer opens its token account. Throws
 * bad_request naming `splits` for too many, or a sum above the claim.
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
  // The program silently pays less if less is available. A transfer to itself asserts the whole amount; the account is
  // emptied first, so that no earlier balance satisfies it.
  const whole = spl.createTransferInstruction(sol.address, sol.address, claimer, lamports)
  const instructions = [token.open, sol.open, sol.unwrap, sol.open, take, whole, sol.unwrap]
  for (const { recipient, lamports } of splits) {
    instructions.push(web3.SystemProgram.transfer({ fromPubkey: claimer, toPubkey: key(recipient), lamports }))
  }
  return compileUnsigned(claim, instructions)
}

/** Withdraws the partner's surplus of a full curve into the fee claimer's SOL, which works once for each pool. */
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

function checkSplits({ splits, lamports, payer, feeClaimer, messageConfig }: PartnerFeeClaim): void {
  if (lamports <= 0n) throw badRequest('There is nothing to claim', { param: 'address' })
  const version = messageConfig === undefined ? 0 : 1
  const most = maxRecipients(payer === feeClaimer, version)
  if (splits.length > most) {
    const other = payer === feeClaimer ? '' : ', or pay with the fee claimer itself, which leaves room for ten'
    const why = version === 1 ? '' : `: send tx_version 1, which has room for ${RECIPIENTS_IN_VERSION_1}${other}`
    throw badRequest(`splits: at most ${most} recipients fit in a transaction, these are ${splits.length}${why}`, {
      param: 'splits',
    })
  }
  const sum = splits.reduce((total, split) => total + split.lamports, 0n)
  if (sum > lamports) throw badRequest(`splits take ${sum} lamports of ${lamports}`, { param: 'splits' })
}
