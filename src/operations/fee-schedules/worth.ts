/** Whether a claim by a schedule is worth what it costs the platform wallet. */
import type { FeeClaimKind } from '../../api/fee-claims.ts'
import type { Chain } from '../../chain/connection.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { badRequest } from '../../platform/errors.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import type { PlannedFeeClaim } from '../fee-claims/types.ts'

/** What these pay is in the token, whose worth in SOL is not known. */
const PAID_IN_TOKEN: ReadonlySet<FeeClaimKind> = new Set(['leftover', 'vesting'])

/**
 * Throws bad_request: with the reason `below_cost` where the SOL that is claimed does not exceed the network's fee and
 * the rent of accounts that stay open, and where the wallet would open a recipient's account, whose rent that one can
 * take and have paid again.
 */
export async function requireWorth(chain: Chain, { built, plan, opens = [] }: PlannedFeeClaim): Promise<void> {
  const other = opens.find((owner) => owner !== plan.claimer)
  if (other !== undefined) {
    throw badRequest(
      `splits: ${other} has no account of ${plan.quote_mint}, and a schedule opens none for others: have it open one`,
      { param: 'splits' },
    )
  }
  if (PAID_IN_TOKEN.has(plan.kind)) return
  const isSol = plan.quote_mint === WRAPPED_SOL
  if (!isSol && plan.estimated_lamports === undefined) return
  const paid = BigInt((isSol ? plan.estimated_quote : undefined) ?? 0) + BigInt(plan.estimated_lamports ?? 0)
  const fee = feeOfMessage(decodeWireTransaction(built.transaction).message)
  const rent = opens.length === 0 ? 0n : BigInt(opens.length) * (await rentFor(chain, TOKEN_ACCOUNT_SIZE))
  if (paid > fee + rent) return
  throw badRequest(`It pays ${paid} lamports, and costs ${fee + rent}: ${fee} of fee and ${rent} of rent`, {
    param: 'address',
    details: { reason: 'below_cost' },
  })
}
