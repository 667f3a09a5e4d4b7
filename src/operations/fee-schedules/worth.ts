/** Checks whether a schedule's claim pays more than it costs the platform wallet. */
import type { FeeClaimKind } from '../../api/fee-claims.ts'
import type { Chain } from '../../chain/connection.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { badRequest } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import type { PlannedFeeClaim } from '../fee-claims/types.ts'

/** These pay in the token, whose value in SOL is unknown. */
const PAID_IN_TOKEN: ReadonlySet<FeeClaimKind> = new Set(['leftover', 'vesting'])

/**
 * Throws bad_request with the reason `below_cost` if the claimed SOL does not exceed the network fee and the rent of
 * accounts that stay open. Also throws bad_request if the wallet would open an account of another one, because that one
 * could close it for its rent again and again.
 */
export async function requireWorth(chain: Chain, { built, plan, opens = [] }: PlannedFeeClaim): Promise<void> {
  const { claimer, delegate: wallet = claimer } = plan
  const other = opens.find((owner) => owner !== wallet)
  if (other !== undefined && other === claimer) {
    throw badRequest(
      `${other} lacks a token account that the claim of its delegate pays, and a schedule does not open one: ${other} must open it, also for wrapped SOL`,
      { param: 'owner' },
    )
  }
  if (other !== undefined) {
    throw badRequest(
      `splits: ${other} has no token account for ${plan.quote_mint}, and a schedule does not open one: the recipient must open it`,
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
  throw badRequest(
    `The claim pays ${solText(paid)} and costs ${solText(fee + rent)}: ${solText(fee)} of fee and ${solText(rent)} of rent`,
    {
      param: 'address',
      details: { reason: 'below_cost' },
    },
  )
}
