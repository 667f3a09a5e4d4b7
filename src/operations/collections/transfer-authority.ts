/** Builds the transfer of a collection's update authority to another address. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildCollectionHandover, readCollection } from '../../chain/programs/metaplex-core/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { throwCoreRefusal } from '../assets/core-refusal.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requireRecipients } from '../recipients.ts'

type TransferAuthorityRoute = Api['collections']['transferAuthority']

/** Throws bad_request unless the payer is the update authority, and for a new one that could never use it. */
export async function transferCollectionAuthority(
  context: Context,
  { address, payer, new_authority, allow_programs }: Input<TransferAuthorityRoute>,
): Promise<Result<TransferAuthorityRoute>> {
  const { updateAuthority } = await readCollection(context.chain, address)
  if (updateAuthority !== payer) {
    throw badRequest(`The update authority of ${address} is ${updateAuthority}; only it can give it away`, {
      param: 'payer',
      details: { authority: updateAuthority },
    })
  }
  const recipient = { param: 'new_authority', wallet: new_authority }
  if (new_authority === payer)
    throw badRequest(`${new_authority} is the update authority of ${address} already`, { param: recipient.param })
  if (new_authority === PROGRAMS.core.id) {
    throw badRequest('new_authority is the address of Metaplex Core itself, which nobody can sign for', {
      param: recipient.param,
    })
  }
  await requireRecipients(context, [recipient], { allowsPrograms: allow_programs })
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.core,
    // Half more than the measured cost of a transfer.
    fallbackUnits: 10_000,
    build: (envelope) => buildCollectionHandover({ ...envelope, collection: address, newAuthority: new_authority }),
    onFailedTrial: throwCoreRefusal,
  })
  return {
    ...unsignedAnswer(built),
    collection: address,
    update_authority: payer,
    new_authority,
    tracked_resource: trackingOf('collection', address, []),
  }
}
