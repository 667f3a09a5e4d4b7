/** Plans a claim: its amount, claimer, recipients and transaction. */
import { BENEFICIARIES_OF } from '../../api/fee-claims.ts'
import type { DbcPool } from '../../chain/programs/dbc/index.ts'
import { requireCurve } from '../pools/on-chain.ts'
import type { ClaimContext } from './claim-context.ts'
import { planPositionClaim } from './plan-positions.ts'
import { planTradingFeeClaim } from './plan-trading-fees.ts'
import { planVestingClaim } from './plan-vesting.ts'
import { planCreationFee, planLeftover, planQuoteWithdrawal } from './plan-withdrawals.ts'
import type { FeeClaimInput, Party, PlannedFeeClaim } from './types.ts'

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
