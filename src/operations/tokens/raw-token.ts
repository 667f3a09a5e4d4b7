/** Returns the `raw` field of a token when no metadata provider has it: its decoded mint and metadata. */
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
