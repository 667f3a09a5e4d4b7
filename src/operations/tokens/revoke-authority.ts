/** Builds the revocation of one authority of a token, for good. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { buildAuthorityRevocation, readToken, type TokenState, tokenStatus } from '../../chain/programs/tokens/index.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'

type RevokeAuthorityRoute = Api['tokens']['revokeAuthority']
type Authority = Input<RevokeAuthorityRoute>['type']

/** Half more than the costliest revocation was measured at: Metaplex metadata, 15,761. */
const FALLBACK_UNITS = 25_000

const EVENTS = {
  mint: ['token.mint_authority_revoked'],
  freeze: ['token.freeze_authority_revoked'],
  metadata: [],
} as const

export async function revokeAuthority(
  { chain, config }: Context,
  input: Input<RevokeAuthorityRoute>,
): Promise<Result<RevokeAuthorityRoute>> {
  const { mint, type, payer } = input
  const connection = await chain.connection()
  const token = await readToken(connection, mint)
  const holder = holderOf(token, type)
  if (holder === null)
    throw badRequest(`The token ${mint} has no ${type} authority: it is revoked already`, { param: 'type' })
  if (holder !== payer) {
    throw badRequest(`The ${type} authority of ${mint} is ${holder}; only it can revoke it`, {
      param: 'payer',
      details: { authority: holder },
    })
  }
  const recentBlockhash = await readLatestBlockhash(connection)
  const { tokenProgram } = token
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildAuthorityRevocation({ payer, mint, type, recentBlockhash, tokenProgram, token, before }),
    FALLBACK_UNITS,
  )
  const last = tokenStatus(without(token, type)) === 'fully_immutable'
  return {
    mode: 'unsigned',
    transaction: Buffer.from(transaction).toString('base64'),
    requiredSigners,
    tracked_resource: {
      resource_type: 'token',
      resource_id: mint,
      related_events: [...EVENTS[type], ...(last ? (['token.fully_immutable'] as const) : [])],
    },
  }
}

/** Who holds the authority; null where it is gone. */
function holderOf({ mintAuthority, freezeAuthority, metadata }: TokenState, type: Authority): string | null {
  if (type === 'mint') return mintAuthority
  if (type === 'freeze') return freezeAuthority
  return metadata?.isMutable ? metadata.updateAuthority : null
}

/** The token as it will be. */
function without(token: TokenState, type: Authority): TokenState {
  if (type === 'mint') return { ...token, mintAuthority: null }
  if (type === 'freeze') return { ...token, freezeAuthority: null }
  const metadata = token.metadata && { ...token.metadata, isMutable: false, updateAuthority: null }
  return { ...token, metadata, metadataPointerAuthority: null }
}
