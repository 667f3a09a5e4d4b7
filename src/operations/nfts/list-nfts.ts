/** Lists NFTs, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageNfts } from '../../store/resources/nfts.ts'
import { nftRecord, recordPage } from '../api-records.ts'

type ListNftsRoute = Api['nfts']['list']

export async function listNfts(
  { store }: Pick<Context, 'store'>,
  input: Input<ListNftsRoute>,
): Promise<Result<ListNftsRoute>> {
  return recordPage(await pageNfts(store.db, input), nftRecord)
}
