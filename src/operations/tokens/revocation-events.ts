/** Says which events the permanent revocation of a token's authority causes. */
import type { TrackedResource } from '../../api/index.ts'
import { type OnChainToken, tokenStatus } from '../../chain/programs/tokens/index.ts'
import type { TokenAuthorityType } from '../../solana/token-authorities.ts'

/** `token` is the state before it. The last revocation makes the token fully immutable. */
export function revocationEvents(token: OnChainToken, type: TokenAuthorityType): TrackedResource['related_events'] {
  const isLast =
    tokenStatus(token) !== 'fully_immutable' && tokenStatus(tokenWithout(token, type)) === 'fully_immutable'
  return [
    ...(type === 'mint' ? (['token.mint_authority_revoked'] as const) : []),
    ...(type === 'freeze' ? (['token.freeze_authority_revoked'] as const) : []),
    ...(isLast ? (['token.fully_immutable'] as const) : []),
  ]
}

/** Returns the token after the revocation. Authorities of extensions do not count for its status. */
function tokenWithout(token: OnChainToken, type: TokenAuthorityType): OnChainToken {
  if (type === 'mint') return { ...token, mintAuthority: null }
  if (type === 'freeze') return { ...token, freezeAuthority: null }
  if (type === 'metadata_pointer') return { ...token, metadataPointerAuthority: null }
  if (type !== 'metadata') return token
  const metadata = token.metadata && { ...token.metadata, isMutable: false, updateAuthority: null }
  return { ...token, metadata, metadataPointerAuthority: null }
}
