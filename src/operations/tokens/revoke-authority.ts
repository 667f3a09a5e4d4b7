/** Builds the permanent revocation of one authority of a token. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildAuthorityRevocation, readTokenState } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requireHolder, requireOwnPointer } from './authority-holder.ts'
import { revocationEvents } from './revocation-events.ts'

type RevokeAuthorityRoute = Api['tokens']['revokeAuthority']

export async function revokeAuthority(
  context: Context,
  input: Input<RevokeAuthorityRoute>,
): Promise<Result<RevokeAuthorityRoute>> {
  const { mint, type, payer } = input
  const token = await readTokenState(context.chain, mint)
  requireHolder(token, type, { payer, verb: 'revoke' })
  if (type === 'metadata') requireOwnPointer(token, payer)
  const { tokenProgram } = token
  const built = await buildTransaction(context, {
    payer,
    // One and a half times the measured cost of the most expensive revocation, 15,761 units for Metaplex metadata.
    fallbackUnits: 25_000,
    build: (envelope) => buildAuthorityRevocation({ ...envelope, mint, type, tokenProgram, token }),
  })
  return { ...unsignedAnswer(built), tracked_resource: trackingOf('token', mint, revocationEvents(token, type)) }
}
