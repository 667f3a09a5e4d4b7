/** Builds the creation of a collection, into which assets are minted. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { warningsOf } from '../../api/uris.ts'
import { buildCollectionCreation } from '../../chain/programs/metaplex-core/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { throwCoreRefusal } from '../assets/core-refusal.ts'
import { buildTransaction, newKey, trackingOf, unsignedAnswer } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'

type CreateCollectionRoute = Api['collections']['create']

export async function createCollection(
  context: Context,
  input: Input<CreateCollectionRoute>,
): Promise<Result<CreateCollectionRoute>> {
  const { payer, name, uri, update_authority: updateAuthority = payer } = input
  if (updateAuthority === PROGRAMS.core.id) {
    // The program treats its own address as a missing authority and would use the payer.
    throw badRequest('update_authority is the address of Metaplex Core itself, which nobody can sign for', {
      param: 'update_authority',
    })
  }
  if (updateAuthority !== payer) {
    const recipient = { param: 'update_authority', wallet: updateAuthority }
    await requireRecipients(context, [recipient], { allowsPrograms: input.allow_programs })
  }
  const { address: collection, secretKey } = newKey(context)
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.core,
    // Half more than the measured cost of a creation, 5,318 units.
    fallbackUnits: 10_000,
    build: async (envelope) => ({
      ...(await buildCollectionCreation({ ...envelope, collection, updateAuthority, name, uri })),
      secretKeys: [secretKey],
    }),
    onFailedTrial: throwCoreRefusal,
  })
  return {
    ...unsignedAnswer(built),
    ...generatedKeysField(context.vault, [built.transaction], [secretKey]),
    collection,
    ...warningsOf({ uri }),
    tracked_resource: trackingOf('collection', collection, []),
  }
}
