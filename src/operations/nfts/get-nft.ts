/** One NFT as the chain has it, whoever minted it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { readHere } from '../assets/read-here.ts'
import { nftRecord } from '../records.ts'

type GetNftRoute = Api['nfts']['get']

export async function getNft(context: Context, { asset }: Input<GetNftRoute>): Promise<Result<GetNftRoute>> {
  const { kind, state, nft } = await readHere(context, asset)
  if (kind === 'absent') throw notFound(`There is no asset at ${asset}`, { param: 'asset' })
  const record = nft === null ? null : nftRecord(nft)
  if (state === null) return record ?? { ...BURNED, asset }
  const { owner, collection, name, uri, frozen } = state
  return { asset, collection, owner, name, uri, status: 'minted', frozen, created_at: record?.created_at ?? null }
}

/** A burned asset leaves nothing of itself: what it was, only its record tells. */
const BURNED = {
  collection: null,
  owner: null,
  name: '',
  uri: '',
  status: 'burned' as const,
  frozen: false,
  created_at: null,
}
