/** `svc nfts`: assets minted into a collection, one or a whole list, and burned. */

import type { NftCreated } from '../../src/api/nfts.ts'
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import { METAPLEX_CORE } from '../../src/solana/programs/metaplex-core.ts'
import { type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'
import { columnFlags, columnInputs } from '../lists/column-flags.ts'
import { makeAll } from '../lists/make-all.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { refuseStandardInput } from '../lists/run.ts'
import { coreCall } from '../signing/core-calls.ts'
import { demanding, type Sent } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGN_UNSEEN, SIGNING } from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM_ID } from '../signing/platform-flags.ts'
import { runSigned } from '../signing/run.ts'
import { usage } from '../ui/problem.ts'
import { warnOfHttp } from '../uri-warnings.ts'
import { demandsMint, mintList } from './mint-list.ts'

/** A list of NFTs has no amounts. */
const { amount_column: _, ...listColumnFlags } = columnFlags

const demandsBurn = demanding(
  'it burns this asset',
  ({ payer }, { asset, collection }: Sent<Client['nfts']['burn'], 'owner'>) => [
    coreCall('burn_v1', { asset, collection, payer, authority: payer }, METAPLEX_CORE.data('burn_v1', {})),
  ],
)

const { submit, get, simulate, forecast, batchFetch } = paths.transactions

export const nftsNoun: Noun = {
  verbs: {
    mint: verb({
      about: 'Mint an NFT into a collection, or one for every row of a CSV',
      details:
        'Your keypair must have the update authority of the collection, or be its delegate, unless the platform wallet signs for it. The columns of the CSV are name, uri and optionally owner. A journal is kept beside the CSV: run the same command again after an interruption, and every row is minted once. With --squads each row is a proposal.',
      calls: [
        paths.nfts.create,
        paths.collections.get,
        paths.accounts.batchFetch,
        paths.proposals.get,
        ...[simulate, forecast, submit, get, batchFetch],
      ],
      flags: {
        collection: required(text('Collection to mint into', { placeholder: 'ADDRESS' })),
        name: text('Name: 1 to 64 characters'),
        uri: text('Where its metadata is', { placeholder: 'URL' }),
        owner: text('Who owns it (default: your keypair)', { placeholder: 'WALLET' }),
        allow_programs: ALLOW_PROGRAMS,
        from: text('CSV with a row for each NFT, instead of --name and --uri', {
          placeholder: 'FILE',
          conflicts: ['name', 'uri', 'owner', 'build_only'],
        }),
        ...listColumnFlags,
        journal: text('Where the journal of --from is kept (default: beside the CSV)', {
          placeholder: 'FILE',
          needs: ['from'],
        }),
        sign_unseen: SIGN_UNSEEN,
        trust_journal: TRUST_JOURNAL,
        platform_id: PLATFORM_ID,
        ...SIGNING,
      },
      needs: [
        ['name', 'from'],
        ['uri', 'from'],
      ],
      examples: [
        'svc nfts mint --collection ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --name "Genesis #1" --uri https://example.com/1.json',
        'svc nfts mint --collection ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --from nfts.csv --yes',
      ],
      async run(input, session) {
        const {
          collection,
          name = '',
          uri = '',
          owner,
          from,
          journal,
          platform_id = DEFAULT_PLATFORM,
          ...flags
        } = input
        if (from !== undefined) {
          const columns = columnInputs(flags)
          const list = { file: from, journal, collection, platform_id, allow_programs: flags.allow_programs, columns }
          refuseStandardInput(from, '--from')
          return makeAll(session, flags, await mintList(session, list))
        }
        warnOfHttp(session, { '--uri': uri })
        const body = {
          platform_id,
          collection,
          name,
          uri,
          ...(owner === undefined ? {} : { owner }),
          ...programsField(flags),
        }
        return runSigned<NftCreated>(session, flags, {
          what: `Mint ${name} into ${collection}`,
          build: (payer) => session.client.nfts.create({ ...buildFields(flags), payer, ...body }),
          demand: (of, { asset }) => demandsMint(of, { ...body, asset }),
          show: ({ asset }) => ({ asset, collection }),
          next: (fields) => [`svc nfts get ${fields.asset}`],
        })
      },
    }),
    burn: verb({
      about: 'Burn an NFT of yours, for good',
      details: 'Its rent returns to you. A staked NFT must be released first.',
      calls: [paths.nfts.burn, paths.nfts.get, simulate, submit, get],
      args: { asset: required(text('Address of the asset')) },
      flags: { platform_id: PLATFORM_ID, ...SIGNING },
      examples: [
        'svc nfts burn GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc nfts burn GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --dry-run -k id.json',
      ],
      async run({ asset, platform_id = DEFAULT_PLATFORM, ...flags }, session) {
        const { collection, name, status } = (await session.client.nfts.get({ asset })).data
        if (status === 'burned') throw usage(`${asset} is burned already`, { param: '<asset>' })
        if (collection === null) throw usage(`${asset} is in no collection`, { param: '<asset>' })
        const body = { asset, platform_id, collection }
        return runSigned(session, flags, {
          what: `Burn ${name === '' ? asset : name} for good`,
          build: (owner) => session.client.nfts.burn({ ...body, owner, ...buildFields(flags) }),
          demand: (of) => demandsBurn(of, body),
          async show(_, confirmed) {
            const now = confirmed === null ? {} : { status: (await session.client.nfts.get({ asset })).data.status }
            return { asset, collection, ...now }
          },
        })
      },
    }),
    list: listVerb({
      about: 'List NFTs, newest first',
      at: paths.nfts.list,
      filters: {
        owner: text('Only those of this wallet', { placeholder: 'WALLET' }),
        collection: text('Only those of this collection', { placeholder: 'ADDRESS' }),
      },
      examples: ['svc nfts list', 'svc nfts list --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --all'],
      columns: ['asset', 'name', 'status', 'frozen', 'owner', 'collection'],
      call: (client, query) => client.nfts.list(query),
    }),
    get: recordVerb({
      about: 'Read one NFT from the chain',
      at: paths.nfts.get,
      args: { asset: required(text('Address of the asset')) },
      examples: [
        'svc nfts get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc nfts get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --json',
      ],
      call: (client, input) => client.nfts.get(input),
    }),
  },
}
