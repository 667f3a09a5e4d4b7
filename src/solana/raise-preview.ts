/** Who gets what of a raise and its pool, to the unit, before anything is signed: at its most, at its least, and if it fails. */
import { LAMPORTS_PER_SIGNATURE } from './fees.ts'
import { PRESALE } from './programs/presale.ts'
import { creatorGains, feeOnTop, priceText, type RaiseDecimals, releasesOf, withDeposits } from './raise-amounts.ts'
import { type PoolPlan, type RaisePool, raisedSum, raisePool } from './raise-pool.ts'
import type { LiveRound, Raise, RaiseAddresses, RaiseTerms } from './raises.ts'
import { TOKEN_ACCOUNT_SIZE } from './token-accounts.ts'
import type { TransferFee } from './token-extensions.ts'

/** Bytes of the accounts that never close: of the raise and its vaults, and of the pool and its position. */
const RAISE_BYTES = [PRESALE.sizeOf('presale'), TOKEN_ACCOUNT_SIZE, TOKEN_ACCOUNT_SIZE] as const
const POOL_BYTES = [1_112, 408, 465, TOKEN_ACCOUNT_SIZE, TOKEN_ACCOUNT_SIZE, TOKEN_ACCOUNT_SIZE] as const

interface PreviewedRaise {
  /** As it would be on chain before the first deposit. */
  raise: Raise
  plan: PoolPlan | null
  decimals: RaiseDecimals
  transferFee: TransferFee | null
  /** The lamports that make an account of so many bytes rent-exempt. */
  rentOf(bytes: number): bigint
  /** Of the transaction that creates it. */
  signatures: number
}

/** The account of a raise as it will be, before anybody deposits. */
export function beforeDeposits(raise: RaiseAddresses & RaiseTerms & Pick<Raise, 'creator' | 'createdAt'>): Raise {
  const none = { deposited: 0n, fees: 0n, escrows: 0n, claimed: 0n, refunded: 0n }
  const vestingStartsAt = raise.endsAt + raise.lockSeconds
  return {
    ...raise,
    ...none,
    vestingStartsAt,
    vestingEndsAt: vestingStartsAt + raise.vestingSeconds,
    feesCollected: false,
    creatorWithdrawn: false,
    unsoldDone: false,
    rounds: raise.rounds.map((round) => ({ ...round, ...none })),
  }
}

type RaiseCase = 'best' | 'expected' | 'failed'

/** One result of a raise, as the API has it. */
export type OutcomeFigures = ReturnType<typeof outcomeOf>

/**
 * The best case reaches the maximum. The expected one just reaches the minimum, which is certain of each raise that
 * succeeds. The failed one lacks one unit of it. A fault is the end of a sentence about the pool: "The pool …".
 */
export function previewRaise(of: PreviewedRaise): Record<RaiseCase, OutcomeFigures> & { fault: string | null } {
  const { minimum, maximum } = of.raise
  const best = outcomeAt(of, maximum)
  const expected = outcomeAt(of, minimum)
  return {
    best: best.figures,
    expected: expected.figures,
    failed: outcomeAt(of, minimum - 1n).figures,
    fault: expected.fault ?? best.fault,
  }
}

function outcomeAt(of: PreviewedRaise, total: bigint) {
  const deposits = splitByRounds(of.raise, total)
  const raise = withDeposits(of.raise, deposits)
  const isFailed = raise.deposited < raise.minimum
  const pool = isFailed || of.plan === null ? null : raisePool(of.plan, raisedSum(raise, of.transferFee))
  const isOpen = pool !== null && typeof pool !== 'string'
  return { figures: outcomeOf(of, raise, isOpen ? pool : null), fault: typeof pool === 'string' ? pool : null }
}

/** Each round gets deposits in proportion to its tokens. */
function splitByRounds({ rounds, supply }: Raise, total: bigint): bigint[] {
  let left = total
  return rounds.map((round, i) => {
    const part = i === rounds.length - 1 ? left : (total * round.supply) / supply
    left -= part
    return part
  })
}

function outcomeOf({ plan, decimals, transferFee, ...of }: PreviewedRaise, raise: Raise, pool: RaisePool | null) {
  const buyers = raise.rounds.map((round, i) => fewestBuyers(raise, round, i))
  const sum = (of: (each: (typeof buyers)[number]) => bigint) => buyers.reduce((all, each) => all + of(each), 0n)
  const fees = sum((each) => each.fees)
  const { raised, returned, unsold } = creatorGains(raise)
  const isFailed = raise.deposited < raise.minimum
  const sold = raise.supply - returned - unsold
  const reserve = plan === null ? 0n : BigInt(plan.reserve)
  const bought = isFailed ? 0n : sum((each) => each.tokens)
  const isBurnt = raise.unsold === 'burn'
  const { price } = raisedSum(raise, transferFee)
  return {
    raised: String(raised),
    buyers_get: String(bought),
    price: sold === 0n ? null : priceText(price.quote, price.tokens, decimals),
    creator_gets: String(raised - (pool?.quote ?? 0n)),
    creator_tokens: String(returned + (isBurnt ? 0n : unsold) + reserve - (pool?.tokens ?? 0n)),
    fees: String(isFailed ? 0n : fees),
    refunded: String(isFailed ? raise.deposited + fees : raise.deposited - raised),
    burned: String(isBurnt ? unsold : 0n),
    dust: String(sold - bought),
    pool_quote: String(pool?.quote ?? 0n),
    pool_tokens: String(pool?.tokens ?? 0n),
    pool_price: pool === null ? null : priceText(pool.sqrtPrice ** 2n, 1n << 128n, decimals),
    pool_price_bps: pool === null ? null : Number(pool.priceOfRaiseBps),
    locked_bps: pool === null ? 0 : (plan?.locked_bps ?? 0),
    lamports: String(lamportsOf(of, pool !== null)),
  }
}

/** What buyers pay and get if each deposits the most. Each further buyer may lose a unit of each release by rounding. */
function fewestBuyers(raise: Raise, { deposited, buyerMax, feeBps }: LiveRound, round: number) {
  const of = (own: bigint) => ({
    fees: feeOnTop(own, feeBps),
    tokens: releasesOf(raise, { round, deposited: own }).reduce((all, { tokens }) => all + tokens, 0n),
  })
  const [count, most, last] = [deposited / buyerMax, of(buyerMax), of(deposited % buyerMax)]
  return { fees: count * most.fees + last.fees, tokens: count * most.tokens + last.tokens }
}

/** The NFT of a position signs, too. Priority fees are not included. */
function lamportsOf({ rentOf, ...of }: Pick<PreviewedRaise, 'rentOf' | 'signatures'>, hasPool: boolean): bigint {
  const rents = [...RAISE_BYTES, ...(hasPool ? POOL_BYTES : [])].reduce((all, bytes) => all + rentOf(bytes), 0n)
  const signatures = BigInt(of.signatures + (hasPool ? 3 : 1))
  return rents + signatures * LAMPORTS_PER_SIGNATURE
}
