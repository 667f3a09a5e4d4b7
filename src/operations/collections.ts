/** Collections of Metaplex Core: create, read, and give away their authority. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { warningsOf } from '../api/uris.ts'
import {
  buildCollectionCreation,
  buildCollectionHandover,
  readCollection,
} from '../chain/programs/metaplex-core/index.ts'
import type { Context } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { unsignedAct } from './act.ts'
import { newKey, trackingOf } from './building.ts'
import { requireRecipients } from './recipients.ts'
import { throwCoreRefusal } from './refusals.ts'
import { trySigner } from './signing/require-signer.ts'

type Routes = Api['collections']

/** Builds the creation of a collection, into which assets are minted. */
export const createCollection = unsignedAct<Routes['create']>(async (context, input) => {
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
  return {
    payer,
    requiredProgram: PROGRAMS.core,
    // Half more than the measured cost of a creation, 5,318 units.
    fallbackUnits: 10_000,
    build: async (envelope) => ({
      ...(await buildCollectionCreation({ ...envelope, collection, updateAuthority, name, uri })),
      secretKeys: [secretKey],
    }),
    onFailedSimulation: throwCoreRefusal,
    summary: { collection, ...warningsOf({ uri }) },
    tracked: trackingOf('collection', collection, []),
  }
})

/** Throws bad_request unless the payer is the update authority, and for a new one that could never use it. */
export const transferCollectionAuthority = unsignedAct<Routes['transferAuthority']>(async (context, input) => {
  const { address, payer, new_authority, allow_programs } = input
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
  return {
    payer,
    requiredProgram: PROGRAMS.core,
    // Half more than the measured cost of a transfer.
    fallbackUnits: 10_000,
    build: (envelope) => buildCollectionHandover({ ...envelope, collection: address, newAuthority: new_authority }),
    onFailedSimulation: throwCoreRefusal,
    summary: { collection: address, update_authority: payer, new_authority },
    tracked: trackingOf('collection', address, []),
  }
})

/** Reads one collection from the chain, and whether the platform wallet signs mints into it. */
export async function getCollection(
  context: Context,
  { address }: Input<Routes['get']>,
): Promise<Result<Routes['get']>> {
  const { chain, config } = context
  const collection = await readCollection(chain, address)
  const { name, uri, updateAuthority, updateDelegates, minted, size, permanentFreeze } = collection
  const isListed = config.values['nfts.cosign-collections'].includes(address)
  const wallet = isListed ? await trySigner(context) : null
  return {
    address,
    name,
    uri,
    update_authority: updateAuthority,
    update_delegates: updateDelegates,
    num_minted: minted,
    current_size: size,
    frozen: permanentFreeze ?? false,
    cosigned: wallet !== null && [updateAuthority, ...updateDelegates].includes(wallet.address),
  }
}
