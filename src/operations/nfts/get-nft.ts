/** Reads one NFT from the chain, whoever minted it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { nftRecord } from '../api-records.ts'
import { readAssetWithRows } from '../assets/read-asset.ts'

type GetNftRoute = Api['nfts']['get']

export async function getNft(context: Context, { asset }: Input<GetNftRoute>): Promise<Result<GetNftRoute>> {
  const { kind, state, nft } = await readAssetWithRows(context, asset)
  if (kind === 'absent') throw notFound(`There is no asset at ${asset}`, { param: 'asset' })
  const record = nft === null ? null : nftRecord(nft)
  if (state === null) return record ?? { ...BURNED_NFT, asset }
  const { owner, collection, name, uri, frozen } = state
  return { asset, collection, owner, name, uri, status: 'minted', frozen, created_at: record?.created_at ?? null }
}

/** A burned asset has no data on chain. Only its record has its former content. */
const BURNED_NFT = {
  collection: null,
  owner: null,
  name: '',
  uri: '',
  status: 'burned' as const,
  frozen: false,
  created_at: null,
}
