/** What `raw` of a token holds where no metadata provider says more: its mint and metadata, decoded. */
import type { OnChainToken } from '../../chain/programs/tokens/index.ts'

export function rawTokenOf(token: OnChainToken) {
  const { metadata } = token
  return {
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
  }
}
