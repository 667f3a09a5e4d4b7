/** Lists the staked assets of a wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findStakedByWallet } from '../../store/resources/stakes.ts'
import { stakeRecord } from '../api-records.ts'

type LookUpStakesRoute = Api['stakes']['lookup']

const NOTE =
  'Stake state lives on the asset itself (its FreezeDelegate plugin) and is decoded client-side from the account (GET /v2/accounts/{address}, `svc accounts get`); this list is what the server has seen.'

export async function lookUpStakes(
  { store }: Context,
  { wallet }: Input<LookUpStakesRoute>,
): Promise<Result<LookUpStakesRoute>> {
  const rows = await findStakedByWallet(store.db, wallet)
  return { wallet, note: NOTE, staked_assets: rows.map(stakeRecord) }
}
