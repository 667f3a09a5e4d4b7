/** One token as the chain has it, whoever made it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readToken, tokenStatus } from '../../chain/tokens/index.ts'
import type { Context } from '../../context.ts'

type Route = Api['tokens']['get']

export async function getToken({ chain }: Context, { mint }: Input<Route>): Promise<Result<Route>> {
  const token = await readToken(await chain.connection(), mint)
  const { metadata } = token
  return {
    mint,
    status: tokenStatus(token),
    raw: {
      token_program: token.tokenProgram,
      decimals: token.decimals,
      supply: String(token.supply),
      mint_authority: token.mintAuthority,
      freeze_authority: token.freezeAuthority,
      metadata: metadata && {
        name: metadata.name,
        symbol: metadata.symbol,
        uri: metadata.uri,
        update_authority: metadata.updateAuthority,
        is_mutable: metadata.isMutable,
      },
    },
  }
}
