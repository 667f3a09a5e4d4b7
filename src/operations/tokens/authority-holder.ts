/** Checks that a wallet holds the authority of a token that it is about to revoke or give away. */
import type { OnChainToken } from '../../chain/programs/tokens/index.ts'
import { badRequest } from '../../platform/errors.ts'
import {
  type MintExtensionAuthority,
  TOKEN_AUTHORITIES,
  type TokenAuthorityType,
} from '../../solana/token-authorities.ts'

/**
 * Throws bad_request if the mint lacks the extension of the authority, if the authority is revoked, or if the payer is
 * not its holder, who is named.
 */
export function requireHolder(
  token: OnChainToken,
  type: TokenAuthorityType,
  { payer, verb }: { payer: string; verb: 'revoke' | 'give away' | 'give up' | 'change' },
): void {
  const holder = holderOf(token, type)
  const { mint, metadata, metadataElsewhere } = token
  const { name } = TOKEN_AUTHORITIES[type]
  if (type === 'metadata' && metadata === null && metadataElsewhere === null)
    throw badRequest(`The token ${mint} has no metadata, so nobody can change it`, { param: 'type' })
  if (holder === undefined) {
    const { extension } = TOKEN_AUTHORITIES[type as MintExtensionAuthority]
    const message = `The token ${mint} has no ${name}: it was created without the extension ${extension}`
    throw badRequest(message, { param: 'type' })
  }
  if (holder === null) {
    const details = { reason: 'given_up' }
    throw badRequest(`The token ${mint} has no ${name}: it is already revoked`, { param: 'type', details })
  }
  if (holder !== payer) {
    throw badRequest(
      `The ${name} of ${mint} is ${holder}; only it can ${verb} ${verb === 'change' ? 'the metadata' : 'it'}`,
      {
        param: 'payer',
        details: { authority: holder },
      },
    )
  }
}

/** Throws bad_request if another address could still replace the metadata after its authority is given up. */
export function requireOwnPointer({ mint, metadataPointerAuthority: pointer }: OnChainToken, payer: string): void {
  if (pointer === null || pointer === payer) return
  throw badRequest(
    `${pointer} can move the metadata pointer of ${mint}, and so replace the metadata: it must first give up the authority metadata_pointer`,
    { param: 'type', details: { authority: pointer } },
  )
}

/** Returns the holder of the authority, null when it is revoked, and undefined without its extension. */
function holderOf(token: OnChainToken, type: TokenAuthorityType): string | null | undefined {
  if (type === 'mint') return token.mintAuthority
  if (type === 'freeze') return token.freezeAuthority
  if (type === 'metadata') return token.metadata?.isMutable ? token.metadata.updateAuthority : null
  return token.extensions?.authorities[type]
}
