/** Lists the fee claims of all pools, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageFeeClaims } from '../../store/fees/fee-claims.ts'
import { feeClaimBooked, recordPage } from '../api-records.ts'

type ListFeeClaimsRoute = Api['feeClaims']['list']

export async function listFeeClaims(
  { store }: Pick<Context, 'store'>,
  input: Input<ListFeeClaimsRoute>,
): Promise<Result<ListFeeClaimsRoute>> {
  return recordPage(await pageFeeClaims(store.db, input), feeClaimBooked)
}
