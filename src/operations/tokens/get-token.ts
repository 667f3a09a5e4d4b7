/** Reads one token from the chain, whoever created it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readTokenState, tokenStatus } from '../../chain/programs/tokens/index.ts'
import { readProviderAsset } from '../../chain/reads/metadata-provider.ts'
import type { Context } from '../../context.ts'
import { rawTokenOf } from './raw-token.ts'

type GetTokenRoute = Api['tokens']['get']

export async function getToken(context: Context, { mint }: Input<GetTokenRoute>): Promise<Result<GetTokenRoute>> {
  const token = await readTokenState(context.chain, mint)
  return { mint, status: tokenStatus(token), raw: (await assetOf(context, mint)) ?? rawTokenOf(token) }
}

/**
 * Returns null without a provider, when it does not know the token, and when it fails. The chain's own data is then
 * used.
 */
async function assetOf({ config, log, ending }: Context, mint: string): Promise<unknown> {
  const url = config.values['metadata-url']
  if (url === undefined) return null
  try {
    return await readProviderAsset(url, mint, { ending })
  } catch (error) {
    log.warn({ err: error, mint }, 'the metadata provider failed')
    return null
  }
}
