/** Builds the permanent revocation of one authority of a token. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildAuthorityRevocation,
  type OnChainToken,
  readTokenState,
  tokenStatus,
} from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'

type RevokeAuthorityRoute = Api['tokens']['revokeAuthority']
type Authority = Input<RevokeAuthorityRoute>['type']

const REVOCATION_EVENTS = {
  mint: ['token.mint_authority_revoked'],
  freeze: ['token.freeze_authority_revoked'],
  metadata: [],
} as const

export async function revokeAuthority(
  context: Context,
  input: Input<RevokeAuthorityRoute>,
): Promise<Result<RevokeAuthorityRoute>> {
  const { mint, type, payer } = input
  const token = await readTokenState(context.chain, mint)
  const holder = authorityHolderOf(token, type)
  if (holder === null)
    throw badRequest(`The token ${mint} has no ${type} authority: it is already revoked`, { param: 'type' })
  if (holder !== payer) {
    throw badRequest(`The ${type} authority of ${mint} is ${holder}; only it can revoke it`, {
      param: 'payer',
      details: { authority: holder },
    })
  }
  const { tokenProgram } = token
  const built = await buildTransaction(context, {
    payer,
    // One and a half times the measured cost of the most expensive revocation, 15,761 units for Metaplex metadata.
    fallbackUnits: 25_000,
    build: (envelope) => buildAuthorityRevocation({ ...envelope, mint, type, tokenProgram, token }),
  })
  const last = tokenStatus(tokenWithout(token, type)) === 'fully_immutable'
  return {
    ...unsignedAnswer(built),
    tracked_resource: trackingOf('token', mint, [
      ...REVOCATION_EVENTS[type],
      ...(last ? (['token.fully_immutable'] as const) : []),
    ]),
  }
}

/** Returns the holder of the authority, or null when it is revoked. */
function authorityHolderOf({ mintAuthority, freezeAuthority, metadata }: OnChainToken, type: Authority): string | null {
  if (type === 'mint') return mintAuthority
  if (type === 'freeze') return freezeAuthority
  return metadata?.isMutable ? metadata.updateAuthority : null
}

/** Returns the token after the revocation. */
function tokenWithout(token: OnChainToken, type: Authority): OnChainToken {
  if (type === 'mint') return { ...token, mintAuthority: null }
  if (type === 'freeze') return { ...token, freezeAuthority: null }
  const metadata = token.metadata && { ...token.metadata, isMutable: false, updateAuthority: null }
  return { ...token, metadata, metadataPointerAuthority: null }
}
