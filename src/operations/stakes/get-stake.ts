/** Reads one stake from the chain: whether the asset is frozen, and its owner. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { stakeRecord } from '../api-records.ts'
import { readAssetWithRows } from '../assets/read-asset.ts'

type GetStakeRoute = Api['stakes']['get']

export async function getStake(context: Context, { asset }: Input<GetStakeRoute>): Promise<Result<GetStakeRoute>> {
  const { kind, state, nft, stake } = await readAssetWithRows(context, asset)
  if (kind === 'absent') throw notFound(`There is no asset at ${asset}`, { param: 'asset' })
  const record = stake === null ? null : stakeRecord(stake)
  const collection = state?.collection ?? record?.collection ?? nft?.collection ?? null
  if (collection === null) {
    const why = state === null ? 'it is burned and was never followed here' : 'it is not in a collection'
    throw notFound(`There is no stake of the asset ${asset}: ${why}`, { param: 'asset' })
  }
  return {
    asset,
    collection,
    owner: state?.owner ?? null,
    status: state === null ? 'burned' : state.staked ? 'staked' : 'unstaked',
    platform_id: record?.platform_id ?? null,
    metadata: record?.metadata ?? null,
  }
}
