/** `svc collections`: the collections that NFTs are minted into. */

import type { CollectionCreated, CollectionTransfer } from '../src/api/collections.ts'
import { paths } from '../src/api/paths.ts'
import type { Client } from '../src/client.ts'
import { METAPLEX_CORE } from '../src/solana/programs/metaplex-core.ts'
import { type Noun, required, text, verb } from './cli/command.ts'
import { recordVerb } from './cli/reads.ts'
import { coreCall, NO_PLUGINS } from './signing/core-calls.ts'
import { demanding, type Sent } from './signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING, WALLET_ADDRESS } from './signing/flags.ts'
import { previewLine } from './signing/preview.ts'
import { runSigned } from './signing/run.ts'
import { warnOfHttp } from './uri-warnings.ts'

type CollectionsClient = Client['collections']

const demandsCollection = demanding(
  'this collection, of this authority, without plugins',
  (
    { payer },
    { collection, name, uri, update_authority = payer }: Sent<CollectionsClient['create']> & { collection: string },
  ) => [
    coreCall(
      'create_collection_v2',
      { collection, update_authority, payer },
      METAPLEX_CORE.data('create_collection_v2', { name, uri, ...NO_PLUGINS }),
    ),
  ],
)

/** Changes the update authority and neither name nor URI. */
const demandsTransfer = demanding(
  'gives the update authority to this address, and changes nothing else',
  ({ payer }, { address: collection, new_authority }: Sent<CollectionsClient['transferAuthority']>) => [
    coreCall(
      'update_collection_v1',
      { collection, payer, authority: payer, new_update_authority: new_authority },
      METAPLEX_CORE.data('update_collection_v1', {}),
    ),
  ],
)

const { submit, get, simulate } = paths.transactions

export const collectionsNoun: Noun = {
  verbs: {
    create: verb({
      about: 'Create a collection, which NFTs are minted into',
      details: 'The holder of its update authority can mint into it: your keypair, unless you name another.',
      calls: [paths.collections.create, simulate, submit, get],
      flags: {
        name: required(text('Name: 1 to 64 characters')),
        uri: required(text('Where its metadata is', { placeholder: 'URL' })),
        update_authority: text('Who may mint into it and change it (default: your keypair)', { placeholder: 'WALLET' }),
        allow_programs: ALLOW_PROGRAMS,
        ...SIGNING,
      },
      examples: [
        'svc collections create --name Genesis --uri https://example.com/genesis.json',
        'svc collections create --name Genesis --uri https://example.com/genesis.json --dry-run -k id.json',
      ],
      async run({ name, uri, update_authority, ...flags }, session) {
        warnOfHttp(session, { '--uri': uri })
        const body = {
          name,
          uri,
          ...(update_authority === undefined ? {} : { update_authority }),
          ...programsField(flags),
        }
        return runSigned<CollectionCreated>(session, flags, {
          what: `Create the collection ${name}`,
          build: (payer) => session.client.collections.create({ ...buildFields(flags), payer, ...body }),
          demand: (of, { collection }) => demandsCollection(of, { ...body, collection }),
          show: ({ collection }) => ({ collection }),
        })
      },
    }),
    'transfer-authority': verb({
      about: "Give the update authority of a collection to another wallet or a multisig's vault",
      details:
        'The present holder signs. Only the new holder can give it back, so check the address. For the vault of a multisig add --allow-programs.',
      calls: [paths.collections.transferAuthority, simulate, submit, get],
      args: {
        address: required(text('Address of the collection')),
        new_authority: required(text('Address that gets it')),
      },
      flags: {
        allow_programs: ALLOW_PROGRAMS,
        authority: text(
          'Wallet that signs elsewhere and holds it, the same as --payer; with --build-only',
          WALLET_ADDRESS,
        ),
        ...SIGNING,
      },
      examples: [
        'svc collections transfer-authority ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
        'svc collections transfer-authority ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --allow-programs --dry-run',
      ],
      async run({ address, new_authority, ...flags }, session) {
        const body = { address, new_authority, ...programsField(flags) }
        return runSigned<CollectionTransfer>(session, flags, {
          what: `Give the update authority of ${address} to ${new_authority}`,
          build: (payer) => session.client.collections.transferAuthority({ ...body, payer, ...buildFields(flags) }),
          demand: (of) => demandsTransfer(of, body),
          preview: ({ update_authority }) => [
            previewLine('held by', update_authority),
            previewLine('goes to', `${new_authority}; only it can give the authority back`),
          ],
          show: ({ update_authority }) => ({ collection: address, update_authority, new_authority }),
        })
      },
    }),
    get: recordVerb({
      about: 'Read one collection from the chain',
      at: paths.collections.get,
      args: { address: required(text('Address of the collection')) },
      examples: [
        'svc collections get ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq',
        'svc collections get ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --json',
      ],
      call: (client, input) => client.collections.get(input),
    }),
  },
}
