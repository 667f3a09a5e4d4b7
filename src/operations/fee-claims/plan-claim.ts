/** Plans a claim: its amount, claimer, recipients and transaction. */
import { BENEFICIARIES_OF } from '../../api/fee-claims.ts'
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import {
  baseAccountAddress,
  buildTradingFeeClaim,
  closesToken,
  type DbcPool,
  OPENED_SHARE_UNITS,
  quoteAccountAddress,
  type Share,
  TRADING_FEE_CLAIM_UNITS,
  vestingEscrowAddress,
} from '../../chain/programs/dbc/index.ts'
import { LOCK_UNITS, onLock, readLock } from '../../chain/programs/jupiter-lock/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { badRequest } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { solText } from '../../solana/amounts.ts'
import { lockAmounts, unlockText } from '../../solana/lock-schedule.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { accountKind, recipientFault } from '../../solana/recipients.ts'
import { buildTransaction } from '../building.ts'
import { requireCurve } from '../pools/on-chain.ts'
import { type RecipientFault, refuseRecipients } from '../recipients.ts'
import { curveMints, nothingToClaim, requireWrappedRent, throwClaimRefusal, tooEarly } from './claim-answers.ts'
import type { ClaimContext } from './claim-context.ts'
import { planPositionClaim } from './plan-positions.ts'
import { planCreationFee, planLeftover, planQuoteWithdrawal } from './plan-withdrawals.ts'
import type { FeeClaimInput, FeeClaimPlan, Party, PlannedFeeClaim, TradingFeeRequest } from './types.ts'

/** Throws bad_request when there is nothing to claim or a split cannot be paid, not_found without a pool. */
export async function planClaim(context: ClaimContext, input: FeeClaimInput, payer: string): Promise<PlannedFeeClaim> {
  const { address, kind } = input
  if (kind === 'damm_v2') return planPositionClaim(context, input, payer)
  const pool = await requireCurve(context.chain, address)
  const party = partyOf(pool, input)
  if (kind === 'dbc') {
    const { splits, allow_programs: allowsPrograms = false } = input
    return planTradingFeeClaim(context, { pool, party, splits, allowsPrograms, payer })
  }
  if (kind === 'vesting') return planVestingClaim(context, pool, payer)
  if (kind === 'leftover') return planLeftover(context, pool, payer)
  if (kind === 'pool_creation_fee') return planCreationFee(context, pool, payer)
  return planQuoteWithdrawal(context, { kind, pool, party, payer })
}

function partyOf(pool: DbcPool, { kind, beneficiary = BENEFICIARIES_OF[kind][0] }: FeeClaimInput): Party {
  return { beneficiary, claimer: beneficiary === 'creator' ? pool.creator : pool.feeClaimer }
}

/** The program pays nothing for an early claim, so it is refused with the next date. */
async function planVestingClaim(context: ClaimContext, pool: DbcPool, payer: string): Promise<PlannedFeeClaim> {
  const { address, hasVesting } = pool
  if (!hasVesting) throw nothingToClaim(address, ': its config locks no tokens')
  const { at, escrow } = await readLock(context.chain, await vestingEscrowAddress(address))
  if (escrow === null) {
    throw tooEarly(`The tokens of ${address} are not locked yet: the migration creates their lock`)
  }
  const { claimable, next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (claimable === 0n) {
    if (next === null) throw nothingToClaim(address, `: all vested tokens were paid to ${escrow.recipient}`)
    throw nothingToClaim(
      address,
      ` yet: the next ${next.amount} raw units of ${escrow.recipient} unlock ${unlockText(next.at)}`,
    )
  }
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.claim,
    build: (envelope) => onLock(envelope, escrow, ({ claim }) => claim(payer, escrow.recipient, claimable)),
    onFailedSimulation: throwClaimRefusal,
  })
  const party = { beneficiary: 'creator', claimer: escrow.recipient } as const
  const plan = { ...curveMints(pool), ...party, kind: 'vesting' as const, estimated_base: String(claimable) }
  return { built, plan: { ...plan, type: 'fee_claim.executed' } }
}

/** Throws bad_request when there is nothing to claim, or a split cannot be paid. */
export async function planTradingFeeClaim(context: ClaimContext, request: TradingFeeRequest): Promise<PlannedFeeClaim> {
  const { pool, party, splits = [], payer } = request
  if (pool.transferHook !== null) {
    throw badRequest(
      `The token of pool ${pool.address} calls the program ${pool.transferHook} in its transfers, so svc does not claim its trading fees: claim them with the tool that launched it`,
      { param: 'kind', details: { transfer_hook: pool.transferHook } },
    )
  }
  const isCreator = party.beneficiary === 'creator'
  const amount = isCreator ? pool.creatorQuoteFee : pool.partnerQuoteFee
  const base = isCreator ? pool.creatorBaseFee : pool.partnerBaseFee
  if (amount === 0n && (base === 0n || splits.length > 0)) {
    const whose = isCreator ? ` for its creator ${party.claimer}` : ''
    const why = `: a split pays the quote, but there are only ${base} raw units of the token; claim them without splits`
    throw nothingToClaim(pool.address, base === 0n ? whose : `${whose}${why}`)
  }
  const [{ shares, held }, [token]] = await Promise.all([
    payableShares(context.chain, request, amount),
    accountsAt(context.chain, [await baseAccountAddress(pool, party.claimer)]),
  ])
  const isTokenMissing = token === null
  const opened = pool.quoteMint === WRAPPED_SOL ? [] : shares.filter(({ account }) => account !== 'open')
  await requireWrappedRent(context, { pool, claimer: party.claimer, payer })
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: TRADING_FEE_CLAIM_UNITS + OPENED_SHARE_UNITS * opened.length,
    build: (envelope) =>
      buildTradingFeeClaim({ ...envelope, ...party, pool, amount, held, isTokenMissing, splits: shares }),
    onFailedSimulation: throwClaimRefusal,
  })
  const plan: FeeClaimPlan = {
    ...curveMints(pool),
    ...party,
    kind: 'dbc',
    estimated_quote: String(amount),
    ...(base === 0n ? {} : { estimated_base: String(base) }),
    type: splits.length === 0 ? 'fee_claim.executed' : 'fee_claim.split_executed',
  }
  const isClosed = closesToken({ pool, ...party, splits: shares })
  const recipients = opened.flatMap(({ account, recipient }) => (account === 'missing' ? [recipient] : []))
  return { built, plan, opens: [...recipients, ...(isTokenMissing && !isClosed ? [party.claimer] : [])] }
}

/**
 * Returns the shares. For a quote other than SOL it also returns the balance of the claimer's account before the
 * claim.
 */
async function payableShares(
  node: NodeCalls,
  { pool, party, splits = [], allowsPrograms }: TradingFeeRequest,
  amount: bigint,
): Promise<{ shares: Share[]; held: bigint }> {
  const parts = splitAmount(
    amount,
    splits.map(({ bps }) => bps),
  )
  const shares = splits.map(({ recipient }, i) => ({ recipient, amount: parts[i] ?? 0n }))
  requireParts(shares, amount)
  const isSol = pool.quoteMint === WRAPPED_SOL
  await requireWallets(node, shares, { isSol, allowsPrograms })
  if (isSol) return { shares, held: 0n }
  const owners = [party.claimer, ...shares.map(({ recipient }) => recipient)]
  const addresses = await Promise.all(owners.map((owner) => quoteAccountAddress(pool, owner)))
  const [own, ...accounts] = await accountsAt(node, addresses)
  const held = own ? (decodeTokenAccount(own)?.amount ?? 0n) : 0n
  return { held, shares: shares.map((share, i) => ({ ...share, account: tokenAccountOf(share, accounts[i], i) })) }
}

function requireParts(shares: readonly Share[], total: bigint): void {
  for (const [i, { amount, recipient }] of shares.entries()) {
    if (amount > 0n) continue
    const param = `splits.${i}.bps`
    throw badRequest(`${param}: the share of ${recipient} in ${total} raw units is zero`, { param })
  }
}

/** A share in SOL that leaves its recipient below rent exemption would fail on chain without an explanation. */
async function requireWallets(
  node: NodeCalls,
  shares: readonly Share[],
  { isSol, allowsPrograms }: { isSol: boolean; allowsPrograms: boolean },
): Promise<void> {
  const recipients = shares.map(({ recipient }) => recipient)
  const accounts = await accountsAt(node, recipients)
  const paidTo = (address: string) =>
    shares.reduce((sum, { recipient, amount }) => (recipient === address ? sum + amount : sum), 0n)
  const faults = recipients.flatMap((wallet, i): RecipientFault[] => {
    const reason = recipientFault(wallet, accountKind(accounts[i] ?? null), { allowsPrograms })
    return reason === null ? [] : [{ param: `splits.${i}.recipient`, wallet, reason }]
  })
  refuseRecipients(faults, recipients.length)
  const least = shares.length === 0 || !isSol ? 0n : await rentFor(node, 0)
  for (const [i, { recipient }] of shares.entries()) {
    const param = `splits.${i}.recipient`
    const after = (accounts[i]?.lamports ?? 0n) + (isSol ? paidTo(recipient) : 0n)
    if (after >= least) continue
    throw badRequest(
      `${param}: ${recipient} would have ${solText(after)}, and an account must hold at least ${solText(least)}: leave it out, or send it SOL first`,
      { param, details: { lamports: String(after), rent_exempt: String(least) } },
    )
  }
}

/** Throws bad_request for an account that has another owner now or cannot receive tokens. */
function tokenAccountOf(
  { recipient }: Share,
  account: ChainAccount | null | undefined,
  place: number,
): NonNullable<Share['account']> {
  if (account === null || account === undefined) return 'missing'
  const state = decodeTokenAccount(account)
  if (state === null && account.owner === SYSTEM_PROGRAM) return 'funded'
  if (state?.owner === recipient && state.state === 'initialized') return 'open'
  const param = `splits.${place}.recipient`
  throw badRequest(
    `${param}: the token account of ${recipient} for the quote is frozen or has another owner: leave it out`,
    {
      param,
    },
  )
}

// Divides an amount by basis points, exactly and with the same result on every run.

const FULL_SHARE_BPS = 10_000n

/**
 * Each share is rounded down. The remaining units go one each to the largest fractions; of equal ones the earlier is
 * first. `bps` must sum to 10,000.
 */
export function splitAmount(amount: bigint, bps: readonly number[]): bigint[] {
  const shares = bps.map((part) => (amount * BigInt(part)) / FULL_SHARE_BPS)
  const fractions = bps.map((part) => (amount * BigInt(part)) % FULL_SHARE_BPS)
  const left = Number(amount - shares.reduce((sum, share) => sum + share, 0n))
  const byFraction = fractions
    .map((fraction, place) => ({ fraction, place }))
    .sort((a, b) => (a.fraction === b.fraction ? a.place - b.place : a.fraction < b.fraction ? 1 : -1))
  const raised = new Set(byFraction.slice(0, left).map(({ place }) => place))
  return shares.map((share, place) => (raised.has(place) ? share + 1n : share))
}
