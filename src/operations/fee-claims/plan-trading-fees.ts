/** Plans a claim of a curve's trading fees for its partner or creator, optionally split. */
import {
  baseAccountAddress,
  buildTradingFeeClaim,
  closesToken,
  OPENED_SHARE_UNITS,
  TRADING_FEE_CLAIM_UNITS,
} from '../../chain/programs/dbc/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { badRequest } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { buildTransaction } from '../building.ts'
import { curveMints, nothingToClaim, requireWrappedRent, throwClaimRefusal } from './claim-answers.ts'
import type { ClaimContext } from './claim-context.ts'
import { payableShares } from './payable-shares.ts'
import type { FeeClaimPlan, PlannedFeeClaim, TradingFeeRequest } from './types.ts'

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
