/** Builds the creation of a collection, which assets are minted into. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { cosigned } from '../../chain/cosign.ts'
import { buildCollectionCreation } from '../../chain/programs/metaplex-core/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { throwRefused } from '../assets/refused.ts'

type CreateCollectionRoute = Api['collections']['create']

/** Half more than a creation was measured at: 5,318. */
const FALLBACK_UNITS = 10_000

export async function createCollection(
  { chain, config }: Context,
  input: Input<CreateCollectionRoute>,
): Promise<Result<CreateCollectionRoute>> {
  const { payer, name, uri, update_authority: updateAuthority = payer } = input
  if (updateAuthority === PROGRAMS.core.id) {
    // To the program it means that none is given, and the payer would be it.
    throw badRequest('update_authority is the address of Metaplex Core itself, which nobody can sign for', {
      param: 'update_authority',
    })
  }
  await requireProgram(chain, PROGRAMS.core)
  const connection = await chain.connection()
  const { Keypair } = await import('@solana/web3.js')
  const key = Keypair.generate()
  const collection = key.publicKey.toBase58()
  const recentBlockhash = await readLatestBlockhash(connection)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildCollectionCreation({ payer, collection, updateAuthority, name, uri, recentBlockhash, before }),
    FALLBACK_UNITS,
    throwRefused,
  )
  return {
    mode: 'unsigned',
    transaction: Buffer.from(cosigned(transaction, [key.secretKey])).toString('base64'),
    requiredSigners: requiredSigners.filter((signer) => signer !== collection),
    collection,
    tracked_resource: { resource_type: 'collection', resource_id: collection, related_events: [] },
  }
}
