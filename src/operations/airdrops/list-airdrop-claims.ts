/** Lists the recorded claims of an airdrop, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageAirdropClaims } from '../../store/airdrops/claims.ts'
import { airdropClaimRecord, recordPage } from '../api-records.ts'
import { airdropKeyOf } from './on-chain.ts'

type ListClaimsRoute = Api['airdrops']['claims']

/** Throws internal_error when no node reports which chain this is. */
export async function listAirdropClaims(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  { id, limit, cursor }: Input<ListClaimsRoute>,
): Promise<Result<ListClaimsRoute>> {
  airdropKeyOf(id)
  const of = { genesis: await chain.genesisHash(), airdrop_id: id }
  return recordPage(await pageAirdropClaims(store.db, { ...of, limit, cursor }), airdropClaimRecord)
}
