/** `svc collections`: the collections that NFTs are minted into. */

import type { CollectionCreated } from '../src/api/collections.ts'
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text, verb } from './cli/command.ts'
import { recordVerb } from './cli/reads.ts'
import { demanding } from './signing/demand.ts'
import { makesCollection } from './signing/demanded-assets.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING } from './signing/flags.ts'
import { runSigned } from './signing/run.ts'
import { warnOfHttp } from './uri-warnings.ts'

const demandsCollection = demanding('this collection, of this authority, without plugins', makesCollection)

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
        return runSigned<CollectionCreated>(session, flags, {
          what: `Create the collection ${name}`,
          build: (payer) =>
            session.client.collections.create({
              ...buildFields(flags),
              payer,
              name,
              uri,
              ...(update_authority === undefined ? {} : { update_authority }),
              ...programsField(flags),
            }),
          demand: (of, { collection }) =>
            demandsCollection(of, { collection, name, uri, authority: update_authority ?? of.payer }),
          show: ({ collection }) => ({ collection }),
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
